package front

import (
	"runtime"
	"testing"
)

func TestGarbageMayBeAsMuchAsIsAliveOrSixtyFourMegabytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alive uint64
		want  int
	}{{0, 3200}, {1 << 20, 3200}, {4 << 20, 1600}, {16 << 20, 400}, {64 << 20, 100}, {1 << 30, 100}} {
		if got := roomyPercent(c.alive); got != c.want {
			t.Errorf("with %d bytes alive: %d %%, want %d", c.alive, got, c.want)
		}
	}
}

// TestEveryCollectionIsFollowed: one that is missed would leave the percentage of a
// small heap to a large one.
func TestEveryCollectionIsFollowed(t *testing.T) {
	t.Parallel()
	told := make(chan struct{}, 1024)
	afterCollection(func() {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	for range 3 {
		runtime.GC()
		<-told
	}
	if n := alive(); n == 0 {
		t.Error("nothing is alive")
	}
}
