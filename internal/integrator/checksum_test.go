package integrator

import (
	"hash/crc32"
	"strings"
	"testing"
)

// The checksum is the common CRC-32, so that scanners of others can check it too.
func TestChecksumIsTheCommonOne(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "123456789", "sk_live_", strings.Repeat("pk_live_0Az", 7), "\x00\xff"} {
		if got, want := checksum(text), crc32.ChecksumIEEE([]byte(text)); got != want {
			t.Errorf("%q: got %08x, want %08x", text, got, want)
		}
	}
}

func TestReadingTheFormOfAKeyCostsNoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { KindOf("sk_live_0000000000000000000000000000000000000000000000000") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
