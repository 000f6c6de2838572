package sim

import (
	"fmt"
	"testing"

	"ferry/internal/chain"
)

var shapes = []Shape{Nonces, Coins, Expiring}

// BenchmarkPayment is a payment from the user's mind to the block, twenty a block.
func BenchmarkPayment(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.String(), func(b *testing.B) {
			n := newNet(b, s)
			to := n.Codec().Make("bob")
			names := make([]string, 1000)
			for i := range names {
				names[i] = fmt.Sprint("user", i)
			}
			i := 0
			for b.Loop() {
				n.Pay(names[i%len(names)], to, n.ID().Native(), amount(1000))
				if i++; i%20 == 0 {
					n.Mine(1)
				}
			}
		})
	}
}

// BenchmarkTransfer is a payout through the ports: draft, broadcast, land, fate.
func BenchmarkTransfer(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.String(), func(b *testing.B) {
			n := newNet(b, s)
			ctx, c := b.Context(), n.Chain()
			call := chain.Call{Chain: n.ID(), From: Hot, To: n.Codec().Make("bob"), Asset: n.ID().Native(), Amount: amount(1000)}
			i := 0
			for b.Loop() {
				if i%20 == 0 {
					for range 20 {
						if err := n.Faucet(n.Own(Hot), n.ID().Native(), amount(1_000_000_000)); err != nil {
							b.Fatal(err)
						}
					}
					n.Mine(n.cfg.FinalDepth + 2)
				}
				i++
				a := must(c.Draft(ctx, call, nil, amount(1_000_000_000)))
				if err := c.Broadcast(ctx, a.Raw); err != nil {
					b.Fatal(err)
				}
				n.Mine(1)
				must(c.Fate(ctx, a))
			}
		})
	}
}

// BenchmarkReorg orphans four blocks of twenty payments each and mines five.
func BenchmarkReorg(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.String(), func(b *testing.B) {
			n := newNet(b, s)
			n.cfg.Window = 1 << 40
			for b.Loop() {
				b.StopTimer()
				n.EvictAll()
				for range 4 {
					for j := range 20 {
						n.Pay(fmt.Sprint("user", j), n.Codec().Make("bob"), n.ID().Native(), amount(1000))
					}
					n.Mine(1)
				}
				b.StartTimer()
				must(n.Reorg(4, ReorgOptions{}))
			}
		})
	}
}

// BenchmarkScan reads a block of twenty payments through the ports.
func BenchmarkScan(b *testing.B) {
	n := newNet(b, Nonces)
	for j := range 20 {
		n.Pay(fmt.Sprint("user", j), n.Codec().Make("bob"), n.ID().Native(), amount(1000))
	}
	n.Mine(1)
	ctx, c := b.Context(), n.Chain()
	who := only{n.Codec().Make("bob")}
	for b.Loop() {
		must(c.Head(ctx))
		blk := must(c.Next(ctx, n.Height()))
		must(c.Deposits(ctx, blk, who))
	}
}
