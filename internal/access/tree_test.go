package access_test

import (
	"maps"
	"testing"

	"ferry/internal/access"
	"ferry/internal/testseed"
)

// A tree agrees with a map, whatever the hashes, and no later put changes one that
// was kept.
func TestTreeAgreesWithAMapAndNeverChanges(t *testing.T) {
	t.Parallel()
	for name, hash := range map[string]func(uint64) uint64{
		"spread":             func(k uint64) uint64 { return k * 0x9e3779b97f4a7c15 },
		"all the same":       func(uint64) uint64 { return 42 },
		"differ at the end":  func(k uint64) uint64 { return k << 60 },
		"few":                func(k uint64) uint64 { return k % 3 },
		"differ in the last": func(k uint64) uint64 { return k%2<<63 | 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := testseed.Rand(t)
			type kept struct {
				tree access.Tree
				want map[uint64]uint64
			}
			var all []kept
			var now access.Tree
			want := map[uint64]uint64{}
			for range 40 {
				var pairs [][2]uint64
				for range r.IntN(30) {
					k, v := r.Uint64N(200), r.Uint64()
					pairs = append(pairs, [2]uint64{k, v})
					want[k] = v
				}
				now = now.Put(hash, pairs...)
				all = append(all, kept{now, maps.Clone(want)})
			}
			for i, k := range all {
				for key := range uint64(220) {
					got, ok := k.tree.Get(hash, key)
					if v, has := k.want[key]; ok != has || got != v {
						t.Fatalf("tree %d: key %d is %d, %t; want %d, %t", i, key, got, ok, v, has)
					}
				}
			}
		})
	}
}
