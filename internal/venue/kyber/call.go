package kyber

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/contract"
)

// Flags of a description. The router itself reads the lower ones, of which each would
// change what it takes or holds to; the one beyond is for its executors alone.
const executorFlag = 0x200

// errCall is a call that is not what was asked for.
var errCall = errors.New("kyber: the aggregator's call is not what was asked for")

// wanted is what a call must be.
type wanted struct {
	src, dst  common.Address
	in, least money.Amount
	coins     money.Amount // of the chain's own, that go with it
}

// readSwap reads a call of the router's swap, which must be in its only encoding: what
// we read is then what the router reads.
func readSwap(data []byte) (execution, error) {
	m := protocol.Methods["swap"]
	if len(data) < 4 || !bytes.Equal(data[:4], m.ID) {
		return execution{}, fmt.Errorf("%w: it calls another method", errCall)
	}
	values, err := m.Inputs.Unpack(data[4:])
	if err != nil {
		return execution{}, fmt.Errorf("%w: %w", errCall, err)
	}
	var out struct{ Execution execution }
	if err := m.Inputs.Copy(&out, values); err != nil {
		return execution{}, fmt.Errorf("%w: %w", errCall, err)
	}
	again, err := m.Inputs.Pack(out.Execution)
	if err != nil || !bytes.Equal(again, data[4:]) {
		return execution{}, fmt.Errorf("%w: it is not in its only encoding", errCall)
	}
	return out.Execution, nil
}

// judge refuses a call that would do anything but bring at least the least of the one
// token to us for exactly the amount of the other.
func (v *Venue) judge(data []byte, w wanted) error {
	e, err := readSwap(data)
	if err != nil {
		return err
	}
	d, in := &e.Desc, toBig(w.in)
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{errCall}, args...)...)
	}
	switch {
	case !slices.Contains(v.cfg.Executors, contract.Address(e.CallTarget)):
		return bad("it is run by %s, which is not one of the executors that are configured", contract.Address(e.CallTarget).Text())
	case e.ApproveTarget != common.Address{}:
		return bad("it lets %s take what is ours", contract.Address(e.ApproveTarget).Text())
	case len(e.TargetData) == 0:
		return bad("it has no way in it")
	case d.SrcToken != w.src || d.DstToken != w.dst:
		return bad("it exchanges %s for %s", contract.Address(d.SrcToken).Text(), contract.Address(d.DstToken).Text())
	case d.Amount.Cmp(in) != 0:
		return bad("it takes %s and not %s", d.Amount, in)
	case d.DstReceiver != v.own:
		return bad("it gives to %s", contract.Address(d.DstReceiver).Text())
	case len(d.FeeReceivers) != 0 || len(d.FeeAmounts) != 0:
		return bad("it pays a fee to somebody")
	case len(d.Permit) != 0:
		return bad("it has a permit, and none was given")
	case d.Flags.Cmp(new(big.Int)) != 0 && d.Flags.Cmp(big.NewInt(executorFlag)) != 0:
		return bad("its flags are %#x", d.Flags)
	}
	if err := sources(d, in, !w.coins.IsZero()); err != nil {
		return err
	}
	if toAmount(d.MinReturnAmount).Less(w.least) || d.MinReturnAmount.Sign() == 0 {
		return fmt.Errorf("%w: it may bring %s, and %s is the least", errLittle, d.MinReturnAmount, w.least)
	}
	return nil
}

// sources refuses a list of who gets what is ours that is not all of it, or more. Who
// they are is the executor's matter, often the first pools of the way: whoever they are,
// the router refuses the swap unless the least comes back. Coins go with the call itself.
func sources(d *description, in *big.Int, coins bool) error {
	sum := new(big.Int)
	for i, who := range d.SrcReceivers {
		if who == (common.Address{}) || i >= len(d.SrcAmounts) {
			return fmt.Errorf("%w: it gives what is ours to nobody", errCall)
		}
		sum.Add(sum, d.SrcAmounts[i])
	}
	want := in
	if coins {
		want = new(big.Int)
	}
	if len(d.SrcReceivers) != len(d.SrcAmounts) || sum.Cmp(want) != 0 || coins && len(d.SrcReceivers) > 0 {
		return fmt.Errorf("%w: it hands on %s of %s", errCall, sum, want)
	}
	return nil
}

// approve lets the router take so much of a token.
func (v *Venue) approve(token common.Address, amount money.Amount) chain.Call {
	return chain.Call{
		Chain: v.cfg.Chain, From: hot, To: contract.Address(token), Asset: v.cfg.Chain.Native(),
		Data: protocol.Data("approve", known(v.cfg.Router), toBig(amount)),
	}
}

// Contracts are what the signer must let the account call for this venue: the router's
// swap, held to what can be held there too, and approvals of the router alone.
func (c Config) Contracts() []chain.Contract {
	all := []chain.Contract{{Address: c.Router, Methods: []chain.Method{{
		Signature: swapSignature,
		Own:       []string{"0.3.6"},
		Only: map[string][]chain.Address{
			"0.0": c.Executors,
			"0.1": {contract.Address(common.Address{})},
		},
		Token:  "0.3.0",
		Coin:   contract.Address(coin),
		Amount: "0.3.7",
		Empty:  []string{"0.3.4", "0.3.5", "0.3.10"},
		Few:    map[string][]uint64{"0.3.9": {0, executorFlag}},
	}}}}
	for _, a := range c.Assets {
		if at, ok := tokenOf(a); ok && !a.IsNative() {
			all = append(all, chain.Contract{Address: contract.Address(at), Methods: []chain.Method{
				{Signature: "approve(address,uint256)", Only: map[string][]chain.Address{"0": {c.Router}}},
			}})
		}
	}
	return all
}
