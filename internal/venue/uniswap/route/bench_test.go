package route_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkFind(b *testing.B) {
	for _, size := range []struct{ tokens, pools int }{{500, 2000}, {5000, 20000}} {
		r := rand.New(rand.NewPCG(1, 1))
		w := newWorld(b, r, size.tokens, size.pools, 8)
		for _, kind := range []string{"hub", "tail"} {
			b.Run(fmt.Sprintf("%d/%s", size.pools, kind), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					in, out := r.IntN(4), 4+r.IntN(4)
					if kind == "tail" {
						in, out = 8+r.IntN(size.tokens-8), 8+r.IntN(size.tokens-8)
					}
					if in == out {
						continue
					}
					_, _ = w.Graph.Find(w.Ask(in, out, true, 1e21))
				}
			})
		}
	}
}
