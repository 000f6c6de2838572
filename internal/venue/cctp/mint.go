package cctp

import (
	"context"
	"fmt"
	"math/big"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Mint is a mint that stands in a receipt.
type Mint struct {
	Tx          chain.TxID
	Block       chain.Block
	Amount, Fee money.Amount // what the recipient got, and what the protocol kept
}

// FindMint finds in a receipt that a message was handed in, and what that minted: between
// the message before it and its own log the messenger says what it minted to whom, and
// the token says so too. Not ok is a receipt in which it does not stand. What was minted to
// us inside another transaction of ours, as by code that runs in a swap, is counted for
// that one already.
func FindMint(r chain.Receipt, m Message, d Domain) (Mint, bool, error) {
	first := 0
	for i, l := range r.Logs {
		if !said(l, d.Transmitter, topicReceived, 4) {
			continue
		}
		v, err := unpack("MessageReceived", l)
		if err != nil {
			return Mint{}, false, err
		}
		if l.Topics[2] != m.Nonce || v[0].(uint32) != m.Source {
			first = i + 1
			continue
		}
		if chain.Word(v[1].([32]byte)) != m.Sender || string(v[2].([]byte)) != string(m.Bytes()[headBytes:]) {
			return Mint{}, false, fmt.Errorf("%w: its nonce is that of another message in %s", ErrForged, r.Tx)
		}
		if r.From == d.Own && r.To != d.Transmitter && m.Recipient == addressWord(d.Own) {
			return Mint{}, false, fmt.Errorf("cctp: a message of %s was handed in inside another transaction of ours, %s: an operator must look", m.Amount, r.Tx)
		}
		got, err := mintedIn(r.Logs[first:i], m, d)
		if err != nil {
			return Mint{}, false, fmt.Errorf("transaction %s: %w", r.Tx, err)
		}
		got.Tx, got.Block = r.Tx, r.Block
		return got, true, nil
	}
	return Mint{}, false, nil
}

// mintedIn reads what one message minted out of the logs that belong to it.
func mintedIn(logs []chain.Log, m Message, d Domain) (Mint, error) {
	var out Mint
	found, moved := 0, false
	for _, l := range logs {
		if !said(l, d.Messenger, topicMinted, 3) || l.Topics[1] != m.Recipient || l.Topics[2] != addressWord(d.tokenAt()) {
			continue
		}
		v, err := unpack("MintAndWithdraw", l)
		if err != nil {
			return Mint{}, err
		}
		found++
		out.Amount, out.Fee = fromBig(v[0].(*big.Int)), fromBig(v[1].(*big.Int))
	}
	for _, l := range logs {
		if !said(l, d.tokenAt(), topicTransfer, 3) || l.Topics[1] != (chain.Word{}) || l.Topics[2] != m.Recipient {
			continue
		}
		v, err := unpack("Transfer", l)
		if err != nil {
			return Mint{}, err
		}
		moved = moved || fromBig(v[0].(*big.Int)) == out.Amount
	}
	whole, err := out.Amount.Add(out.Fee)
	if err != nil || found != 1 || !moved || whole != m.Amount || out.Fee != m.Fee {
		return Mint{}, fmt.Errorf("cctp: a message of %s was handed in, and its mint is said %d times, of %s with a fee of %s", m.Amount, found, out.Amount, out.Fee)
	}
	return out, nil
}

// minted finds the mint of a message whose nonce is used: in transactions that may have
// done it, and then in everything the transmitter said in final blocks since a height. Not
// ok is one that is not final yet.
func (v *Venue) minted(ctx context.Context, m Message, to Domain, since uint64, tried []chain.TxID) (Mint, bool, error) {
	on := v.chains[to.Chain]
	for _, tx := range tried {
		r, err := on.Receipt(ctx, tx)
		if err != nil {
			return Mint{}, false, fmt.Errorf("receipt of %s: %w", tx, err)
		}
		if r.Fate != chain.Final {
			continue
		}
		if got, ok, err := FindMint(r, m, to); err != nil || ok {
			return got, ok, err
		}
	}
	head, err := on.Head(ctx)
	if err != nil {
		return Mint{}, false, fmt.Errorf("head of %s: %w", to.Chain, err)
	}
	if head.Final.Height < since {
		return Mint{}, false, nil
	}
	logs, err := on.Logs(ctx, chain.LogQuery{
		From: since, To: head.Final.Height, Addresses: []chain.Address{to.Transmitter}, Topics: []chain.Word{topicReceived},
	})
	if err != nil {
		return Mint{}, false, fmt.Errorf("messages on %s: %w", to.Chain, err)
	}
	for _, l := range logs {
		if !said(l, to.Transmitter, topicReceived, 4) || l.Topics[2] != m.Nonce {
			continue
		}
		r, err := on.Receipt(ctx, l.Tx)
		if err != nil {
			return Mint{}, false, fmt.Errorf("receipt of %s: %w", l.Tx, err)
		}
		if r.Fate != chain.Final {
			return Mint{}, false, nil
		}
		if got, ok, err := FindMint(r, m, to); err != nil || ok {
			return got, ok, err
		}
	}
	return Mint{}, false, nil
}

// used reports whether a message was handed in already, by whomever.
func (v *Venue) used(ctx context.Context, m Message, to Domain) (bool, error) {
	n, err := ask[*big.Int](ctx, v.chains[to.Chain], to.Transmitter, "usedNonces", [32]byte(m.Nonce))
	if err != nil {
		return false, err
	}
	return n.Sign() != 0, nil
}
