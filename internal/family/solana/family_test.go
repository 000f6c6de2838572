package solana_test

import (
	"fmt"
	"testing"

	sol "github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"

	"ferry/internal/chain"
	"ferry/internal/family/familytest"
	"ferry/internal/family/solana"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/watch"
)

var (
	_ watch.Reader = (*solana.Chain)(nil)
	_ send.Chain   = (*solana.Chain)(nil)
)

// bench is a rig as the suite wants it.
type bench struct {
	*rig
	t *testing.T

	foreign  *sol.PublicKey
	rejected map[sol.PublicKey]bool
	paid     []paid
}

// paid is a payment that a stranger sent.
type paid struct {
	tx   chain.TxID
	outs []familytest.Out
}

func newBench(t *testing.T) familytest.Bench {
	return &bench{rig: newRig(t), t: t, rejected: map[sol.PublicKey]bool{}}
}

func (b *bench) ID() chain.ID { return testID }

func (b *bench) Ports() familytest.Ports {
	return familytest.Ports{Reader: b.chain, Sender: b.chain, Scales: b.chain}
}

func (b *bench) Powers() familytest.Powers {
	return familytest.Powers{
		Token: chain.Asset{Chain: testID, Ref: b.gold.String()}, Amount: money.FromUint64(ordinary), Budget: money.FromUint64(5_000_000),
		FinalDepth: depth, Expires: true, Reverts: true, Gaps: true, Faults: true, Sweeps: true,
		Nodes: nodes, Quorum: need, Sums: true, NoForks: true, Hidden: true, Worlds: 2,
	}
}

func (b *bench) Age() uint64 {
	var out struct{ FinalHeight uint64 }
	b.do("head", nil, &out)
	return out.FinalHeight
}

func (b *bench) Deposit(i uint32) chain.Address { return b.depositAddress(i) }

func (b *bench) MineEmpty(n int) { b.do("mine", object{"n": n, "empty": true}, nil) }
func (b *bench) Skip(n int)      { b.do("skip", object{"n": n}, nil) }
func (b *bench) Price(k uint64)  { b.do("price", object{"price": going * k}, nil) }

func (b *bench) Evict(tx chain.TxID) { b.do("evict", object{"tx": string(tx)}, nil) }

func (b *bench) Break(n int, t familytest.Trouble) { b.nodes[n].set(t) }

func (b *bench) Reject(to chain.Address) { b.rejected[pub(to)] = true }

// Mine seals blocks. Before an attempt that is to fail, somebody who has our key takes
// what it would pay with: nothing else makes a transfer fail that was good when it was sent.
func (b *bench) Mine(n int) {
	if len(b.rejected) > 0 {
		var out struct{ Raws [][]byte }
		b.do("waiting", nil, &out)
		for _, raw := range out.Raws {
			tx, err := sol.TransactionFromBytes(raw)
			b.ok(err)
			for _, k := range tx.Message.AccountKeys {
				if !b.rejected[k] {
					continue
				}
				b.do("evict", object{"tx": tx.Signatures[0].String()}, nil)
				steal := system.NewTransferInstruction(b.lamports(b.own())-ordinary/2, b.own(), key("thief").PublicKey()).Build()
				b.do("submit", object{"raws": [][]byte{b.hotSigns(steal), raw}}, nil)
			}
		}
	}
	b.mine(n)
}

func (b *bench) Reorg(int, bool)              { b.t.Fatal("this chain has no forks") }
func (b *bench) Divert(chain.TxID) chain.TxID { b.t.Fatal("nothing is replaced here"); return "" }

func (b *bench) Usurp(chain.Attempt) chain.TxID    { b.t.Fatal("there are no slots here"); return "" }
func (b *bench) Address(name string) chain.Address { return codec.Make([]byte(name)) }

func (b *bench) Balance(a chain.Address, asset chain.Asset) money.Amount {
	if asset.IsNative() {
		return money.FromUint64(b.lamports(pub(a)))
	}
	return money.FromUint64(b.units(sol.MustPublicKeyFromBase58(asset.Ref), pub(a)))
}

func (b *bench) Landed(tx chain.TxID) bool {
	var out struct{ Value []any }
	b.ask(&out, "getSignatureStatuses", []string{string(tx)}, object{"searchTransactionHistory": true})
	return out.Value[0] != nil
}

func (b *bench) Pay(p familytest.Payment) chain.TxID {
	b.t.Helper()
	from := key(fmt.Sprintf("%s of %s", p.From, b.t.Name()))
	b.fund(from.PublicKey(), oneSOL)
	var steps []sol.Instruction
	for _, o := range p.Outs {
		amount, _ := o.Amount.Uint64()
		switch {
		case p.Kind == familytest.Foreign:
			if b.foreign == nil {
				k := b.newToken("fool's gold", 6)
				b.foreign = &k
			}
			b.give(*b.foreign, from.PublicKey(), amount)
			steps = append(steps, moveUnits(from, *b.foreign, pub(o.To), amount)...)
		case !o.Asset.IsNative():
			b.give(b.gold, from.PublicKey(), amount)
			steps = append(steps, moveUnits(from, b.gold, pub(o.To), amount)...)
		case p.Kind == familytest.Contract:
			steps = append(steps, unwrap(from, pub(o.To), amount)...)
		default:
			b.fund(from.PublicKey(), amount+1)
			steps = append(steps, system.NewTransferInstruction(amount, from.PublicKey(), pub(o.To)).Build())
		}
	}
	if p.Kind == familytest.Failing {
		steps = append(steps, system.NewTransferInstruction(1<<60, from.PublicKey(), key("nobody").PublicKey()).Build())
	}
	tx := b.submit([]sol.PrivateKey{from}, steps...)
	b.paid = append(b.paid, paid{tx, p.Outs})
	return tx
}

// unwrap pays lamports by the token program: it wraps them and closes the account
// towards the recipient. No instruction of the transaction is a transfer to him.
func unwrap(from sol.PrivateKey, to sol.PublicKey, lamports uint64) []sol.Instruction {
	const rent = 2_039_280
	home, _, _ := sol.FindAssociatedTokenAddress(from.PublicKey(), sol.WrappedSol)
	return []sol.Instruction{
		ata.NewCreateIdempotentInstruction(from.PublicKey(), from.PublicKey(), sol.WrappedSol).Build(),
		system.NewTransferInstruction(lamports-rent, from.PublicKey(), home).Build(),
		token.NewSyncNativeInstruction(home).Build(),
		token.NewCloseAccountInstruction(home, to, from.PublicKey(), nil).Build(),
	}
}

// Received is what strangers sent to an address and what landed, in the chain's coin.
func (b *bench) Received(a chain.Address) (out []chain.Deposit) {
	b.t.Helper()
	for _, p := range b.paid {
		var sum money.Amount
		for _, o := range p.outs {
			if o.To == a {
				sum, _ = money.Sum(sum, o.Amount)
			}
		}
		var st struct{ Value []*struct{ Slot uint64 } }
		b.ask(&st, "getSignatureStatuses", []string{string(p.tx)}, object{"searchTransactionHistory": true})
		if sum.IsZero() || st.Value[0] == nil {
			continue
		}
		out = append(out, chain.Deposit{
			ID: chain.DepositID(string(testID) + ":" + string(p.tx) + ":" + a.Text()), To: a, Asset: testID.Native(),
			Amount: sum, Tx: p.tx, Block: b.block(st.Value[0].Slot),
		})
	}
	return out
}

func TestSolanaIsAFamily(t *testing.T) {
	t.Parallel()
	familytest.Run(t, newBench)
}
