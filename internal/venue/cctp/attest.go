package cctp

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
)

// sigBytes is a signature: r, s and v.
const sigBytes = 65

// maxSigners bounds what is asked of a contract that lies: Circle asks for two.
const maxSigners = 32

// attested finds the message of a burn in what the service said. None is what is not
// attested yet. What was found says no more than the burn did, but for what the attesters
// fill in; it is not believed before its nonce was used or its signatures hold.
func (v *Venue) attested(ctx context.Context, b Burn) (a Attested, m Message, ok bool, err error) {
	all, err := v.attester.Messages(ctx, b.Message.Source, b.Tx)
	if err != nil {
		return Attested{}, Message{}, false, err
	}
	for _, a := range all {
		if m, err := ParseMessage(a.Message); err == nil && m.sent() == b.Message.sent() {
			return a, m, true, nil
		}
	}
	return Attested{}, Message{}, false, nil
}

// holds checks what the attesters filled in, and their signatures, as the contract will:
// a service that lies must not make us pay for a mint that reverts.
func (v *Venue) holds(ctx context.Context, a Attested, m Message, to Domain) error {
	switch {
	case m.Nonce == chain.Word{}:
		return fmt.Errorf("%w: it has no nonce", ErrForged)
	case m.Finality < m.MinFinality:
		return fmt.Errorf("%w: it was attested at finality %d and %d was asked for", ErrForged, m.Finality, m.MinFinality)
	case m.MaxFee.Less(m.Fee):
		return fmt.Errorf("%w: its fee is %s of at most %s", ErrForged, m.Fee, m.MaxFee)
	}
	on := v.chains[to.Chain]
	if m.Expires != 0 { // what is attested when it is final does not, today
		head, err := on.Head(ctx)
		if err != nil {
			return fmt.Errorf("head of %s: %w", to.Chain, err)
		}
		if m.Expires <= head.Tip.Height+1 {
			return fmt.Errorf("%w: it expired at %d", ErrForged, m.Expires)
		}
	}
	need, err := ask[*big.Int](ctx, on, to.Transmitter, "signatureThreshold")
	if err != nil {
		return err
	}
	if !need.IsInt64() || need.Int64() < 1 || need.Int64() > maxSigners {
		return fmt.Errorf("cctp: the transmitter on %s asks for %s signatures", to.Chain, need)
	}
	signers, err := Signers(a)
	if err != nil {
		return err
	}
	if int64(len(signers)) != need.Int64() {
		return fmt.Errorf("%w: it has %d signatures, and %s are needed", ErrForged, len(signers), need)
	}
	for _, s := range signers {
		enabled, err := ask[bool](ctx, on, to.Transmitter, "isEnabledAttester", s)
		if err != nil {
			return err
		}
		if !enabled {
			return fmt.Errorf("%w: %s is no attester", ErrForged, s.Hex())
		}
	}
	return nil
}

// Signers are those who signed a message. They must be in rising order and their
// signatures in the one form that contracts take.
func Signers(a Attested) ([]common.Address, error) {
	if len(a.Attestation) == 0 || len(a.Attestation)%sigBytes != 0 || len(a.Attestation) > maxSigners*sigBytes {
		return nil, fmt.Errorf("%w: %d bytes are no signatures", ErrForged, len(a.Attestation))
	}
	digest := crypto.Keccak256(a.Message)
	var out []common.Address
	for i := 0; i < len(a.Attestation); i += sigBytes {
		sig := append([]byte(nil), a.Attestation[i:i+sigBytes]...)
		sig[64] -= 27 // wraps around where it is less, which is refused below
		if !crypto.ValidateSignatureValues(sig[64], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:64]), true) {
			return nil, fmt.Errorf("%w: signature %d is not in its only form", ErrForged, i/sigBytes)
		}
		key, err := crypto.SigToPub(digest, sig)
		if err != nil {
			return nil, fmt.Errorf("%w: signature %d: %w", ErrForged, i/sigBytes, err)
		}
		who := crypto.PubkeyToAddress(*key)
		if n := len(out); n > 0 && who.Cmp(out[n-1]) <= 0 {
			return nil, fmt.Errorf("%w: signers are not in rising order", ErrForged)
		}
		out = append(out, who)
	}
	return out, nil
}
