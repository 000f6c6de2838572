package signer_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
	"ferry/internal/testseed"
)

// meanings read a signed transaction in the simplest way there is, and say in one text
// what it does beside its price, its slot and its age.
var meanings = map[chain.ID]func(raw []byte) string{
	ether: func(raw []byte) string {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(raw); err != nil {
			return err.Error()
		}
		from, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx)
		cost := new(big.Int).Mul(tx.GasFeeCap(), new(big.Int).SetUint64(tx.Gas()))
		said := ""
		for _, a := range tx.SetCodeAuthorizations() {
			who, err := a.Authority()
			said += fmt.Sprint(who, err, a.Address, a.ChainID.String())
		}
		return fmt.Sprint(said, tx.ChainId(), from, err, tx.To(), tx.Value(), hex.EncodeToString(tx.Data()), cost.Cmp(big.NewInt(evmBudget)) <= 0)
	},
	regtest: func(raw []byte) string {
		tx := new(wire.MsgTx)
		if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
			return err.Error()
		}
		var outs []string
		for i, o := range tx.TxOut {
			outs = append(outs, hex.EncodeToString(o.PkScript))
			if i == 0 && len(tx.TxOut) > 1 { // a payment; what is left is change, and the fee
				outs = append(outs, fmt.Sprint(o.Value))
			}
		}
		return fmt.Sprint(len(tx.TxIn), outs, tx.LockTime)
	},
	cluster: func(raw []byte) string {
		tx, err := solana.TransactionFromBytes(raw)
		if err != nil {
			return err.Error()
		}
		var deeds []string
		for _, i := range tx.Message.Instructions {
			program := tx.Message.AccountKeys[i.ProgramIDIndex]
			if program == solana.ComputeBudget {
				continue // its price is held to the budget by other tests
			}
			data := slices.Clone(i.Data)
			if program == solana.TokenProgramID {
				data = data[:min(9, len(data))] // wrong decimals are refused by the chain
			}
			deed := fmt.Sprintf("%s %x", program, data)
			for _, a := range i.Accounts {
				deed += tx.Message.AccountKeys[a].String()
			}
			deeds = append(deeds, deed)
		}
		return fmt.Sprint(tx.VerifySignatures(), tx.Message.AccountKeys[0], deeds)
	},
}

// goods are the papers that are mutated.
var goods = []func(*rig) chain.Paper{evmGood, tokenGood, coinGood, solGood, splGood, evmSweepGood, coinSweepGood, solSweepGood}

// mutate changes a paper in one way or several.
func mutate(rng *rand.Rand, p chain.Paper) chain.Paper {
	b := bytes.Clone(p.Unsigned)
	for range 1 + rng.IntN(3) {
		if len(b) < 2 {
			break
		}
		i := rng.IntN(len(b))
		switch rng.IntN(7) {
		case 0:
			b[i] ^= 1 << rng.IntN(8)
		case 1:
			b[i] = byte(rng.Uint32())
		case 2:
			b = slices.Delete(b, i, i+1)
		case 3:
			b = slices.Insert(b, i, byte(rng.Uint32()))
		case 4: // a part of it somewhere else
			j := rng.IntN(len(b))
			copy(b[i:], b[j:min(len(b), j+1+rng.IntN(40))])
		case 5:
			if i+8 <= len(b) {
				binary.LittleEndian.PutUint64(b[i:], rng.Uint64()>>rng.IntN(64))
			}
		case 6:
			b[i]++
		}
	}
	p.Unsigned = b
	if rng.IntN(20) == 0 {
		p.Keys = slices.Clone(p.Keys)
		p.Keys[rng.IntN(len(p.Keys))] = depositKey(rng.Uint32N(3))
	}
	return p
}

// TestMutatedPapersMeanTheSameOrAreRefused: whatever is signed does what was wished.
func TestMutatedPapersMeanTheSameOrAreRefused(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	const each = 500
	signed := 0
	for i, good := range goods {
		r := newRig(t)
		p := good(r)
		want := meanings[p.Chain](r.sign(p))
		r.remake()
		for range each {
			m := mutate(rng, p)
			raw, err := r.signer.Sign(t.Context(), m)
			if err != nil {
				continue
			}
			signed++
			r.remake() // so that no cap hides what would be signed
			if got := meanings[p.Chain](raw); got != want {
				t.Fatalf("paper %d: %x was signed and does\n%s\ninstead of\n%s", i, m.Unsigned, got, want)
			}
		}
	}
	t.Logf("%d of %d mutations mean the same and were signed", signed, each*len(goods))
	if signed == 0 {
		t.Fatal("no mutation of a fee or a nonce was signed: the test shows nothing")
	}
}

// FuzzSign gives the signer anything at all.
func FuzzSign(f *testing.F) {
	r := newRig(f)
	for i, good := range goods {
		f.Add(uint8(i), good(r).Unsigned)
	}
	f.Fuzz(func(t *testing.T, which uint8, unsigned []byte) {
		r := newRig(t)
		p := goods[int(which)%len(goods)](r)
		want := meanings[p.Chain](r.sign(p))
		p.Unsigned = unsigned
		r.remake()
		raw, err := r.signer.Sign(t.Context(), p)
		if err == nil && meanings[p.Chain](raw) != want {
			t.Fatalf("%x was signed and does %s", unsigned, meanings[p.Chain](raw))
		}
	})
}
