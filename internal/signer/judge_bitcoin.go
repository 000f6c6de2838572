package signer

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// maxBitcoin is all the bitcoin there will be, in its smallest unit.
const maxBitcoin = 21_000_000 * 100_000_000

func (s *bitcoinShelf) tokens(raw []byte) ([]string, error) {
	tx, in := new(wire.MsgTx), bytes.NewReader(raw)
	if err := tx.Deserialize(in); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if in.Len() != 0 {
		return nil, fmt.Errorf("%w: there are bytes behind it", ErrUnreadable)
	}
	return bitcoinTokens(tx), nil
}

// bitcoinTokens are the coins that it spends, in one order.
func bitcoinTokens(tx *wire.MsgTx) []string {
	var tokens []string
	for _, in := range tx.TxIn {
		tokens = append(tokens, "coin:"+in.PreviousOutPoint.String())
	}
	slices.Sort(tokens)
	return tokens
}

func (s *bitcoinShelf) judge(m matter) (verdict, error) {
	tx, spent, err := readBitcoin(m.paper.Unsigned)
	if err != nil {
		return verdict{}, err
	}
	if !m.wish.Call.Asset.IsNative() {
		return verdict{}, refuse(Method, "there is no asset %s", m.wish.Call.Asset)
	}
	if err := bitcoinForm(tx); err != nil {
		return verdict{}, err
	}
	in, err := s.inputs(m, spent)
	if err != nil {
		return verdict{}, err
	}
	out, err := s.outputs(m, tx)
	if err != nil {
		return verdict{}, err
	}
	if out > in {
		return verdict{}, refuse(Amount, "it pays out %d and spends %d", out, in)
	}
	v := verdict{fee: money.FromUint64(in - out), tokens: bitcoinTokens(tx)}
	for i, t := range tx.TxIn {
		v.coins = append(v.coins, coinValue{t.PreviousOutPoint.String(), spent[i].Value})
	}
	most, err := m.wish.Call.Amount.Share(m.share, money.Down)
	if err != nil || most.Less(v.fee) {
		return verdict{}, refuse(Fee, "a fee of %s for an amount of %s", v.fee, m.wish.Call.Amount)
	}
	return v, nil
}

// bitcoinForm lets a transaction do nothing but move coins now.
func bitcoinForm(tx *wire.MsgTx) error {
	if tx.Version != 1 && tx.Version != 2 {
		return refuse(Method, "a transaction of version %d", tx.Version)
	}
	if tx.LockTime != 0 {
		return refuse(Method, "it is locked until %d", tx.LockTime)
	}
	seen := map[wire.OutPoint]bool{}
	for _, in := range tx.TxIn {
		if seen[in.PreviousOutPoint] {
			return refuse(Method, "it spends the coin %s twice", in.PreviousOutPoint)
		}
		seen[in.PreviousOutPoint] = true
		if in.Sequence < wire.MaxTxInSequenceNum-2 { // below it waits, or says what nobody understands
			return refuse(Method, "an input has the sequence %d", in.Sequence)
		}
	}
	return nil
}

// inputs adds up what is spent, all of which must be ours to spend for this wish.
func (s *bitcoinShelf) inputs(m matter, spent []*wire.TxOut) (uint64, error) {
	if len(m.paper.Keys) != len(spent) {
		return 0, refuse(WrongKeys, "%d keys for %d inputs", len(m.paper.Keys), len(spent))
	}
	var sum, hot uint64
	from := map[uint32]uint64{}
	for i, k := range m.paper.Keys {
		own, err := s.scriptFor(k)
		if err != nil {
			return 0, err
		}
		value := spent[i].Value
		switch _, named := m.source(k); {
		case !bytes.Equal(own, spent[i].PkScript):
			return 0, refuse(WrongKeys, "input %d does not belong to the key %q %d", i, k.Account, k.Index)
		case k.Account != Hot && (m.act != sweep || !named):
			return 0, refuse(WrongKeys, "the wish does not name the key %q %d", k.Account, k.Index)
		case value <= 0 || value > maxBitcoin || sum > maxBitcoin:
			return 0, refuse(Amount, "input %d is worth %d", i, value)
		}
		sum += uint64(value)
		if k.Account == Hot {
			hot += uint64(value)
		} else {
			from[k.Index] += uint64(value)
		}
	}
	if m.act != sweep {
		return sum, nil
	}
	return sum, m.brought(from, hot)
}

// brought compares what a sweep takes from each address with what was wished.
func (m *matter) brought(from map[uint32]uint64, hot uint64) error {
	for _, src := range m.wish.Call.Sources {
		if src.Address == m.hot { // what it names of our own account, and a coin that helps
			if money.FromUint64(hot).Less(src.Amount) {
				return refuse(Amount, "it spends %d of our own account and not %s", hot, src.Amount)
			}
			continue
		}
		if has := money.FromUint64(from[src.Index]); has != src.Amount {
			return refuse(Amount, "it brings %s home from the deposit address %d and not %s", has, src.Index, src.Amount)
		}
	}
	return nil
}

// outputs adds up what is paid: the recipient once and exactly, the rest to us.
func (s *bitcoinShelf) outputs(m matter, tx *wire.MsgTx) (uint64, error) {
	own, recipient := s.own, s.own
	if m.act == pay {
		var err error
		if recipient, err = s.scriptOf(m.wish.Call.To); err != nil {
			return 0, refuse(Recipient, "%s is no address of this network", m.wish.Call.To.Text())
		}
	}
	var sum uint64
	paid := 0
	for i, out := range tx.TxOut {
		if out.Value <= 0 || out.Value > maxBitcoin || sum > maxBitcoin {
			return 0, refuse(Amount, "output %d is worth %d", i, out.Value)
		}
		sum += uint64(out.Value)
		switch {
		case m.act == pay && bytes.Equal(out.PkScript, recipient):
			paid++
			if money.FromUint64(uint64(out.Value)) != m.wish.Call.Amount {
				return 0, refuse(Amount, "it pays %d and not %s", out.Value, m.wish.Call.Amount)
			}
		case !bytes.Equal(out.PkScript, own):
			return 0, refuse(Recipient, "output %d pays neither the recipient nor us", i)
		}
	}
	switch {
	case m.act == pay && paid != 1:
		return 0, refuse(Amount, "it pays the recipient %d times", paid)
	case len(tx.TxOut) == 0:
		return 0, refuse(Amount, "it pays everything to the miners")
	}
	return sum, nil
}

// scriptOf is the output script of an address of the network.
func (s *bitcoinShelf) scriptOf(a chain.Address) ([]byte, error) {
	to, err := address.DecodeAddress(a.Text(), s.params)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", a.Text(), err)
	}
	if a.Family() != chain.Bitcoin || !to.IsForNet(s.params) || to.EncodeAddress() != a.Text() {
		return nil, fmt.Errorf("address %q is of another network", a.Text())
	}
	return txscript.PayToAddrScript(to)
}
