package sim_test

import (
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/familytest"
	"ferry/internal/family/sim"
	"ferry/internal/money"
)

// bench is a net as the suite wants it.
type bench struct {
	*sim.Net
	t     *testing.T
	token chain.Asset
	pool  chain.Address
}

func newBench(t *testing.T, s sim.Shape) familytest.Bench {
	id := chain.ID("sim:" + s.String())
	c := sim.Config{
		ID: id, Family: chain.Family(s.String()), Shape: s, FinalDepth: 3, Window: 40, Seed: 7,
		MinFee: money.FromUint64(2), Start: time.Unix(1_700_000_000, 0).UTC(),
	}
	b := &bench{t: t}
	if s != sim.Coins {
		b.token = chain.Asset{Chain: id, Ref: "gold"}
		c.Assets = []chain.Asset{b.token}
	}
	n, err := sim.New(c)
	b.ok(err)
	b.Net = n
	for range 40 {
		b.ok(n.Faucet(n.Own(sim.Hot), id.Native(), money.FromUint64(50_000_000)))
	}
	if s != sim.Coins {
		b.ok(n.Faucet(n.Own(sim.Hot), b.token, money.FromUint64(1_000_000)))
	}
	if s == sim.Nonces {
		b.pool, err = n.Deploy("shop", b.token, id.Native())
		b.ok(err)
		b.ok(n.Faucet(b.pool, b.token, money.FromUint64(50_000_000)))
		b.ok(n.Faucet(b.pool, id.Native(), money.FromUint64(50_000_000)))
	}
	n.Mine(4)
	return b
}

// Allow implements familytest.Trader: a pool takes what the call says.
func (b *bench) Allow(money.Amount) []chain.Call { return nil }

func (b *bench) Trade(give chain.Asset, n, least money.Amount) chain.Call {
	get := b.token
	if give == b.token {
		get = b.ID().Native()
	}
	return chain.Call{
		Chain: b.ID(), From: sim.Hot, To: b.pool, Asset: give, Amount: n, Data: sim.Swap{In: n, MinOut: least, Get: get}.Data(),
	}
}

func (b *bench) Spoil() { b.ok(b.Faucet(b.pool, b.token, money.MustParse("1000000000000000"))) }

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) Ports() familytest.Ports {
	return familytest.Ports{Reader: b.Chain(), Mempool: b.Chain(), Sender: b.Chain(), Scales: b.Chain()}
}

func (b *bench) Powers() familytest.Powers {
	s := b.Shape()
	return familytest.Powers{
		Token: b.token, Amount: money.FromUint64(100_000), Budget: money.FromUint64(2_000_000), FinalDepth: b.Config().FinalDepth,
		Bumps: s != sim.Expiring, Expires: s == sim.Expiring, Reverts: s != sim.Coins,
		Gaps: s == sim.Expiring, DeepReorgs: s != sim.Expiring, Faults: true, Sweeps: true, Calls: s == sim.Nonces,
		Nodes: b.Config().Nodes, Quorum: b.Config().Quorum,
	}
}

func (b *bench) Mine(n int)      { b.Net.Mine(n) }
func (b *bench) MineEmpty(n int) { b.Net.MineEmpty(n) }

func (b *bench) Reorg(depth int, lose bool) {
	b.t.Helper()
	_, err := b.Net.Reorg(depth, sim.ReorgOptions{Empty: true, DropAll: lose})
	b.ok(err)
}

func (b *bench) Skip(n int)             { b.ok(b.Net.Skip(uint64(n))) }
func (b *bench) Evict(tx chain.TxID)    { b.Net.Evict(tx) }
func (b *bench) Reject(a chain.Address) { b.Net.Reject(sim.Match{To: a}) }
func (b *bench) Price(k uint64)         { b.SetFees(money.FromUint64(2 * k)) }

func (b *bench) Pay(p familytest.Payment) chain.TxID {
	b.t.Helper()
	out := sim.Payment{From: p.From, Contract: p.Kind == familytest.Contract, Fail: p.Kind == familytest.Failing}
	for _, o := range p.Outs {
		if p.Kind == familytest.Foreign {
			o.Asset = chain.Asset{Chain: b.ID(), Ref: "fool's gold"}
		}
		out.Outs = append(out.Outs, sim.Out{To: o.To, Asset: o.Asset, Amount: o.Amount})
	}
	tx, err := b.Send(out)
	b.ok(err)
	return tx
}

func (b *bench) Divert(tx chain.TxID) chain.TxID {
	b.t.Helper()
	other, err := b.Replace(tx)
	b.ok(err)
	return other
}

func (b *bench) Usurp(a chain.Attempt) chain.TxID {
	b.t.Helper()
	tx, err := b.Net.Usurp(a)
	b.ok(err)
	return tx
}

func (b *bench) Address(name string) chain.Address { return b.Codec().Make(name) }
func (b *bench) Landed(tx chain.TxID) bool         { return b.Canonical(tx) }

func (b *bench) Break(node int, t familytest.Trouble) {
	b.Node(node).Set(map[familytest.Trouble]sim.Fault{
		familytest.Down:       {Kind: sim.Partition},
		familytest.Deaf:       {Kind: sim.FailAfter},
		familytest.Behind:     {Kind: sim.Stale, Blocks: 2},
		familytest.Forging:    {Kind: sim.Lying, Lie: sim.Forge | sim.Wrong},
		familytest.Hiding:     {Kind: sim.Lying, Lie: sim.Hide},
		familytest.Forgetting: {Kind: sim.Lying, Lie: sim.NotFound},
		familytest.Hasty:      {Kind: sim.Lying, Lie: sim.FakeFinal},
		familytest.Stuttering: {Kind: sim.Duplicate},
		familytest.Shuffling:  {Kind: sim.Reorder},
	}[t])
}

func TestNoncesAreAFamily(t *testing.T) {
	t.Parallel()
	familytest.Run(t, func(t *testing.T) familytest.Bench { return newBench(t, sim.Nonces) })
}

func TestCoinsAreAFamily(t *testing.T) {
	t.Parallel()
	familytest.Run(t, func(t *testing.T) familytest.Bench { return newBench(t, sim.Coins) })
}

func TestExpiringIsAFamily(t *testing.T) {
	t.Parallel()
	familytest.Run(t, func(t *testing.T) familytest.Bench { return newBench(t, sim.Expiring) })
}
