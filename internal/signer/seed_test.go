package signer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ferry/internal/secret"
	"ferry/internal/signer"
)

// quick is a hardness for tests.
var quick = signer.Hardness{Passes: 1, MemoryKiB: 8, Threads: 1}

const pass = "correct horse battery staple"

func written(t *testing.T, h signer.Hardness) (path string, s signer.Seed) {
	t.Helper()
	s, err := signer.NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "ferry.seed")
	if err := signer.WriteSeed(path, s, secret.New(pass), h); err != nil {
		t.Fatal(err)
	}
	return path, s
}

// TestSeedComesBack is the only one at the usual hardness.
func TestSeedComesBack(t *testing.T) {
	t.Parallel()
	path, s := written(t, signer.Usual)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	again, err := signer.ReadSeed(path, secret.New(pass))
	if err != nil || again.Mnemonic().Reveal() != s.Mnemonic().Reveal() || len(strings.Fields(s.Mnemonic().Reveal())) != 24 {
		t.Fatalf("another seed came back: %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"memoryKiB": 262144`) || !strings.Contains(string(text), `"passes": 3`) {
		t.Fatalf("%s %v", text, err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Fatalf("beside the file there is %v, %v", left, err)
	}
}

func TestSeedFileStaysShut(t *testing.T) {
	t.Parallel()
	path, s := written(t, quick)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := func(text []byte, pass string) error {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := signer.ReadSeed(path, secret.New(pass))
		if err == nil && got.Mnemonic().Reveal() == "" {
			t.Fatal("an empty seed")
		}
		return err
	}
	if err := open(good, pass); err != nil {
		t.Fatal(err)
	}
	wrong := open(good, pass+" ")
	for _, p := range []string{"", "x", strings.ToUpper(pass), strings.Repeat("x", 10_000)} {
		if err := open(good, p); err == nil || err.Error() != wrong.Error() || !errors.Is(err, signer.ErrLocked) {
			t.Errorf("passphrase of %d bytes: %v", len(p), err)
		}
	}
	// Every change of every value in the file gives the very same error.
	var parts map[string]any
	if err := json.Unmarshal(good, &parts); err != nil {
		t.Fatal(err)
	}
	for name := range parts {
		for _, v := range []any{nil, 7, "AAAA", "", map[string]any{"passes": 2, "memoryKiB": 8, "threads": 1}, map[string]any{"passes": 1, "memoryKiB": 1 << 31, "threads": 1}} {
			changed := map[string]any{}
			for k, x := range parts {
				changed[k] = x
			}
			changed[name] = v
			text, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			if err := open(text, pass); err == nil || err.Error() != wrong.Error() {
				t.Errorf("%s = %v: %v", name, v, err)
			}
		}
	}
	for i := range good { // and so does a flipped bit, where it means something
		bad := append([]byte{}, good...)
		bad[i] ^= 1
		if got, err := signerRead(t, path, bad); err == nil && got != s.Mnemonic().Reveal() {
			t.Fatalf("byte %d changed the seed", i)
		} else if err != nil && err.Error() != wrong.Error() {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

func signerRead(t *testing.T, path string, text []byte) (string, error) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := signer.ReadSeed(path, secret.New(pass))
	return s.Mnemonic().Reveal(), err
}

func TestSeedFileIsForItsOwner(t *testing.T) {
	t.Parallel()
	path, s := written(t, quick)
	for mode, fine := range map[fs.FileMode]bool{0o400: true, 0o600: true, 0o640: false, 0o604: false, 0o610: false, 0o666: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := signer.ReadSeed(path, secret.New(pass))
		if (err == nil) != fine || (err != nil && !errors.Is(err, signer.ErrOpenToOthers)) {
			t.Errorf("mode %o: %v", mode, err)
		}
		if _, err := signer.ReadSecret(path); (err == nil) != fine {
			t.Errorf("secret of mode %o: %v", mode, err)
		}
	}
	if err := signer.WriteSeed(path, s, secret.New(pass), quick); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a seed was written over: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	if err := signer.WriteSeed(link, s, secret.New(pass), quick); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a seed was written through a link: %v", err)
	}
	if err := signer.WriteSeed(filepath.Join(t.TempDir(), "x"), s, secret.Text{}, quick); err == nil {
		t.Error("a seed was written without a passphrase")
	}
	if err := signer.WriteSeed(filepath.Join(t.TempDir(), "x"), s, secret.New(pass), signer.Hardness{}); err == nil {
		t.Error("a seed was written without hardness")
	}
	if _, err := signer.ReadSeed(t.TempDir(), secret.New(pass)); err == nil {
		t.Error("a folder was read")
	}
}

func TestSecretsInFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pass")
	for text, want := range map[string]string{"a b": "a b", "a b\n": "a b", "a b\r\n": "a b", "a b \n": "a b ", "\n": "", "": "", strings.Repeat("x", 70_000): ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := signer.ReadSecret(path)
		if got.Reveal() != want || (err == nil) == (want == "") {
			t.Errorf("%.10q: %q, %v", text, got.Reveal(), err)
		}
	}
}

func TestMnemonics(t *testing.T) {
	t.Parallel()
	for _, text := range []string{about, strings.ToUpper(about), "  " + strings.ReplaceAll(about, " ", "\n\t"), junk} {
		s, err := signer.ParseMnemonic(secret.New(text))
		if err != nil || s.Mnemonic().Reveal() != strings.Join(strings.Fields(strings.ToLower(text)), " ") {
			t.Errorf("%v", err)
		}
	}
	const canary = "zebra"
	for _, text := range []string{
		"", "abandon", strings.Replace(about, "about", "abandon", 1), strings.Replace(about, "about", "abaut", 1),
		about + " about", strings.Repeat("abandon ", 11), canary + " " + about, "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo " + canary,
	} {
		if _, err := signer.ParseMnemonic(secret.New(text)); !errors.Is(err, signer.ErrMnemonic) || strings.Contains(fmt.Sprintf("%+v", err), canary) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
