package market_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ferry/internal/market"
	"ferry/internal/testseed"
)

func newSigner(t testing.TB, b byte) *market.Signer {
	t.Helper()
	s, err := market.NewSigner(hexSecret(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// terms are n different sets of terms.
func terms(t testing.TB, n int) []market.Public {
	t.Helper()
	_, o := offered(t)
	all := make([]market.Public, n)
	for i := range all {
		all[i] = o.Public("quo_" + strconv.Itoa(i))
	}
	return all
}

// together signs terms in one tree.
func together(t testing.TB, s *market.Signer, all []market.Public) []string {
	t.Helper()
	signatures, err := market.SignTogether(s, all)
	if err != nil {
		t.Fatal(err)
	}
	return signatures
}

func TestEveryLeafOfEveryTreeIsVouchedForAndNoOther(t *testing.T) {
	t.Parallel()
	s, random := newSigner(t, 1), testseed.Rand(t)
	all := terms(t, market.MaxLeaves)
	for size := 1; size <= market.MaxLeaves; size++ {
		signatures := together(t, s, all[:size])
		for i, text := range signatures {
			if !market.Verify(s.PublicKey(), all[i], text) {
				t.Fatalf("leaf %d of %d is refused: %s", i, size, text)
			}
			if parts := strings.Split(text, ":"); (size == 1) != (len(parts) == 2) || len(text) > 512 {
				t.Fatalf("leaf %d of %d has the form %s", i, size, text)
			}
			other := random.IntN(market.MaxLeaves)
			if other != i && market.Verify(s.PublicKey(), all[other], text) {
				t.Fatalf("the signature of leaf %d of %d vouches for leaf %d", i, size, other)
			}
			changed := []byte(text)
			at := random.IntN(len(changed))
			for changed[at] == text[at] {
				changed[at] = " :0129AZaz+/=\n"[random.IntN(14)]
			}
			if market.Verify(s.PublicKey(), all[i], string(changed)) {
				t.Fatalf("leaf %d of %d with byte %d changed is taken: %q", i, size, at, changed)
			}
		}
	}
}

// Whoever knows a tree can not make a text of a quote out of its nodes, nor a shorter
// or longer way to the root.
func TestANodeIsNoLeafAndAWayHasOneLength(t *testing.T) {
	t.Parallel()
	s := newSigner(t, 1)
	all := terms(t, 4)
	first := together(t, s, all)[0]
	parts := strings.Split(first, ":")
	path, err := base64.StdEncoding.DecodeString(parts[3])
	if err != nil || len(path) != 2*sha256.Size || parts[2] != "0" {
		t.Fatalf("got %q, %v", first, err)
	}
	leaf := leafOf(t, all[0])
	above := sha256.Sum256(append(append([]byte{1}, leaf[:]...), path[:32]...))
	root := sha256.Sum256(append(append([]byte{1}, above[:]...), path[32:]...))
	with := func(turns string, way []byte) string {
		return strings.Join([]string{parts[0], parts[1], turns, base64.StdEncoding.EncodeToString(way)}, ":")
	}
	if with("0", path) != first {
		t.Fatal("the test does not write what the signer writes")
	}
	for name, text := range map[string]string{
		"as if it were alone":   parts[0] + ":" + parts[1],
		"the path cut short":    with("0", path[:32]),
		"the path without head": with("0", path[32:]),
		"a path that goes on":   with("0", append(bytes.Clone(path), path...)),
		"its own node":          with("0", append(above[:], path[32:]...)),
		"the root beside":       with("0", root[:]),
		"another turn":          with("1", path),
		"another turn above":    with("2", path),
		"an empty path":         with("0", nil),
		"turns too many":        with("4", path),
		"turns with a zero":     with("00", path),
		"turns with a sign":     with("+0", path),
		"a part too many":       first + ":",
	} {
		if market.Verify(s.PublicKey(), all[0], text) {
			t.Errorf("%s is taken", name)
		}
	}
	// The one who holds the key signs roots only: the text of a quote, or a leaf or
	// root without the words before it, vouches for nothing.
	canonical, err := all[0].Canonical()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"the text": canonical, "a bare leaf": leaf[:], "a marked leaf": append([]byte{0}, canonical...)} {
		bare := "ed25519:" + base64.StdEncoding.EncodeToString(market.SignText(s, text))
		if market.Verify(s.PublicKey(), all[0], bare) {
			t.Errorf("a signature of %s is taken", name)
		}
	}
	lone := "ed25519:" + base64.StdEncoding.EncodeToString(market.SignText(s, append([]byte("ferry-quotes-root-v1\n"), leaf[:]...)))
	if got := together(t, s, all[:1])[0]; got != lone || !market.Verify(s.PublicKey(), all[0], lone) {
		t.Errorf("a lone quote is signed as %s and not as %s", got, lone)
	}
}

func leafOf(t testing.TB, p market.Public) [32]byte {
	t.Helper()
	text, err := p.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(append([]byte{0}, text...))
}

// Whoever comes while a signature is made is in the next tree; who finds it full
// opens another.
func TestQuotesThatWaitTogetherShareASignature(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 17, market.MaxLeaves, market.MaxLeaves + 1, 3 * market.MaxLeaves} {
		s := newSigner(t, 1)
		all := terms(t, n)
		got := make([]string, n)
		release := market.Hold(s)
		var wg sync.WaitGroup
		for i := range all {
			wg.Go(func() {
				var err error
				if got[i], err = s.Sign(all[i]); err != nil {
					t.Error(err)
				}
			})
			// A tree that is full is open no more.
			for market.Waiting(s) != (i+1)%market.MaxLeaves {
				runtime.Gosched()
			}
		}
		release()
		wg.Wait()
		shared := map[string]int{}
		for i, text := range got {
			if !market.Verify(s.PublicKey(), all[i], text) {
				t.Fatalf("%d of %d is refused: %s", i, n, text)
			}
			shared[strings.Split(text, ":")[1]]++
		}
		if want := (n + market.MaxLeaves - 1) / market.MaxLeaves; len(shared) != want {
			t.Errorf("%d quotes have %d signatures, want %d", n, len(shared), want)
		}
	}
}

func TestManyAtOnceAreAllVouchedFor(t *testing.T) {
	t.Parallel()
	s := newSigner(t, 1)
	all := terms(t, 200)
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() {
			for range 5 {
				text, err := s.Sign(p)
				if err != nil || !market.Verify(s.PublicKey(), p, text) {
					t.Errorf("%s: got %s, %v", p.QuoteID, text, err)
				}
			}
		})
	}
	wg.Wait()
	if market.Waiting(s) != 0 {
		t.Error("a tree is left open")
	}
}

func FuzzVerify(f *testing.F) {
	s := newSigner(f, 1)
	all := terms(f, 5)
	good := map[string]bool{}
	for size := 1; size <= len(all); size++ {
		text := together(f, s, all[:size])[0]
		good[text] = true
		f.Add(text)
	}
	for _, text := range []string{"", "ed25519:", "ed25519:AAAA:0:AAAA", "ed25519::0:", "ed25519:" + strings.Repeat("A", 86) + "==:63:" + strings.Repeat("A", 256)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if market.Verify(s.PublicKey(), all[0], text) && !good[text] {
			t.Fatalf("%q is taken", text)
		}
	})
}
