package integrator_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"ferry/internal/integrator"
	"ferry/internal/testseed"
)

// seeded gives bytes of the test's seed; Mint reads bytes.
func seeded(t *testing.T) *rand.ChaCha8 {
	t.Helper()
	return rand.NewChaCha8(sha256.Sum256(strconv.AppendUint(nil, testseed.Of(t), 10)))
}

func mint(t testing.TB, kind integrator.Kind, random io.Reader) string {
	t.Helper()
	key, err := integrator.Mint(kind, random)
	if err != nil {
		t.Fatal(err)
	}
	return key.Reveal()
}

var kinds = []integrator.Kind{integrator.Server, integrator.Public}

func TestMintedKeysAreRecognised(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	seen := map[string]bool{}
	for range 500 {
		for _, kind := range kinds {
			key := mint(t, kind, random)
			if got, ok := integrator.KindOf(key); !ok || got != kind || len(key) != integrator.KeyLen {
				t.Fatalf("a %s key of %d letters is taken for %q, %v", kind, len(key), got, ok)
			}
			if seen[key] {
				t.Fatal("a key was made twice")
			}
			seen[key] = true
		}
	}
}

func TestAKeyOfTheLargestAndTheSmallestNumberIsWhole(t *testing.T) {
	t.Parallel()
	for _, b := range []byte{0, 0xff} {
		key := mint(t, integrator.Server, bytes.NewReader(bytes.Repeat([]byte{b}, 32)))
		if _, ok := integrator.KindOf(key); !ok {
			t.Errorf("the key of bytes %x is not recognised", b)
		}
	}
}

func TestAnyChangedLetterIsNoticed(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	r := rand.New(random)
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_- \x00é"
	for range 50 {
		key := mint(t, kinds[r.IntN(2)], random)
		for at := range key {
			other := letters[r.IntN(len(letters))]
			if other == key[at] {
				continue
			}
			changed := key[:at] + string([]byte{other}) + key[at+1:]
			if kind, ok := integrator.KindOf(changed); ok || kind != "" {
				t.Fatalf("letter %d became %q and the key is still a %q key", at, other, kind)
			}
		}
		for _, wrong := range []string{key[1:], key[:len(key)-1], key + "0", " " + key, strings.ToLower(key), strings.ToUpper(key), ""} {
			if _, ok := integrator.KindOf(wrong); ok {
				t.Fatalf("a text of %d letters that is no key is taken for one", len(wrong))
			}
		}
	}
}

func TestTheOtherPrefixDoesNotMakeTheOtherKind(t *testing.T) {
	t.Parallel()
	key := mint(t, integrator.Public, seeded(t))
	if kind, ok := integrator.KindOf("sk" + key[2:]); ok {
		t.Errorf("a public key with another prefix is taken for a %s key", kind)
	}
}

func TestMintRefusesWhatItCanNotMake(t *testing.T) {
	t.Parallel()
	for _, kind := range []integrator.Kind{"", "Server", "admin"} {
		if key, err := integrator.Mint(kind, seeded(t)); !errors.Is(err, integrator.ErrRefused) || !key.IsZero() {
			t.Errorf("a key of kind %q: %v", kind, err)
		}
	}
	if _, err := integrator.Mint(integrator.Server, strings.NewReader("too short")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a key out of nine bytes: %v", err)
	}
}

func TestAHintTellsKeysApartAndOpensNothing(t *testing.T) {
	t.Parallel()
	key := mint(t, integrator.Server, seeded(t))
	hint := integrator.HintOf(key)
	if !strings.HasPrefix(hint, key[:10]) || !strings.HasSuffix(hint, key[len(key)-4:]) || utf8.RuneCountInString(hint) != 15 {
		t.Errorf("got %q", hint)
	}
	if integrator.HintOf(key[1:]) != "" {
		t.Error("what is no key has a hint")
	}
}

func TestADigestIsTheHashOfTheText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "short", mint(t, integrator.Server, seeded(t)), strings.Repeat("x", 1000)} {
		if integrator.DigestOf(text) != sha256.Sum256([]byte(text)) {
			t.Errorf("another digest of %d letters", len(text))
		}
	}
}

func TestAKeyIsCheckedBeforeItIsIssued(t *testing.T) {
	t.Parallel()
	good := integrator.Key{Kind: integrator.Server, Label: "prod", Requests: integrator.DefaultKeyRequests}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for field, change := range map[string]func(*integrator.Key){
		"kind":                  func(k *integrator.Key) { k.Kind = "" },
		"label":                 func(k *integrator.Key) { k.Label = "a\tb" },
		"keyRequestLimitPerMin": func(k *integrator.Key) { k.Requests = -1 },
	} {
		k := good
		change(&k)
		var p *integrator.Problem
		if err := k.Check(); !errors.As(err, &p) || p.Field != field {
			t.Errorf("got %v, want a problem with %s", err, field)
		}
	}
	if good.Revoked() {
		t.Error("a key is revoked that never was")
	}
}

func FuzzKindOf(f *testing.F) {
	random := rand.NewChaCha8([32]byte{1})
	for _, kind := range kinds {
		key := mint(f, kind, random)
		f.Add(key)
		f.Add(key[:len(key)-1] + "0")
		f.Add("sk_live_" + strings.Repeat("z", 49))
	}
	f.Add("")
	f.Add("pk_live_")
	f.Fuzz(func(t *testing.T, text string) {
		kind, ok := integrator.KindOf(text)
		if !ok {
			if kind != "" {
				t.Fatalf("%q is no key and is of kind %q", text, kind)
			}
			return
		}
		want := map[integrator.Kind]string{integrator.Server: "sk_live_", integrator.Public: "pk_live_"}[kind]
		if want == "" || !strings.HasPrefix(text, want) || len(text) != integrator.KeyLen {
			t.Fatalf("%q is taken for a key of kind %q", text, kind)
		}
		swapped := []byte(text)
		swapped[len(text)-1] ^= 1
		if _, still := integrator.KindOf(string(swapped)); still {
			t.Fatalf("%q with its last bit turned is still a key", text)
		}
	})
}
