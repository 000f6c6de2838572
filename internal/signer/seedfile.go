package signer

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"

	"ferry/internal/secret"
)

// Errors of seed files.
var (
	// ErrLocked: the passphrase is wrong or the file was changed. Which of the two is
	// not said, because nobody can know.
	ErrLocked = errors.New("signer: the passphrase is wrong, or the seed file was changed")
	// ErrOpenToOthers: a file of secrets is readable by others than its owner.
	ErrOpenToOthers = errors.New("signer: others may read this file")
)

// Hardness is how much work it is to try one passphrase. It stands in the file.
type Hardness struct {
	Passes    uint32 `json:"passes"`
	MemoryKiB uint32 `json:"memoryKiB"`
	Threads   uint8  `json:"threads"`
}

// Usual is the hardness of a seed file: about a second and 256 MiB for one try.
var Usual = Hardness{Passes: 3, MemoryKiB: 256 << 10, Threads: 1}

// Bounds of what a file may ask for, so that a changed one cannot take the machine's
// memory, and of how long a file of secrets may be.
const (
	maxPasses, maxMemoryKiB, maxThreads = 16, 2 << 20, 8
	maxSecretFile                       = 64 << 10
	saltBytes                           = 16
)

func (h Hardness) check() error {
	if h.Passes < 1 || h.Passes > maxPasses || h.Threads < 1 || h.Threads > maxThreads || h.MemoryKiB < 8 || h.MemoryKiB > maxMemoryKiB {
		return ErrLocked
	}
	return nil
}

// seedFile is the file as it is written. Everything in it but the sealed part is
// sealed with it, so that none of it can be changed unseen.
type seedFile struct {
	Version  int      `json:"version"`
	KDF      string   `json:"kdf"`
	Hardness Hardness `json:"hardness"`
	Salt     []byte   `json:"salt"`
	Cipher   string   `json:"cipher"`
	Nonce    []byte   `json:"nonce"`
	Sealed   []byte   `json:"sealed,omitempty"`
}

const (
	seedVersion = 1
	seedKDF     = "argon2id"
	seedCipher  = "xchacha20poly1305"
)

// head is all of the file but what is sealed.
func (f seedFile) head() ([]byte, error) {
	f.Sealed = nil
	return json.Marshal(f)
}

func (f seedFile) key(pass secret.Text) []byte {
	h := f.Hardness
	return argon2.IDKey([]byte(pass.Reveal()), f.Salt, h.Passes, h.MemoryKiB, h.Threads, chacha20poly1305.KeySize)
}

// WriteSeed writes a seed into a new file that only its owner may read. It never
// writes over a file that is there, and leaves none behind that is not whole.
func WriteSeed(path string, s Seed, pass secret.Text, h Hardness) error {
	if pass.IsZero() {
		return errors.New("signer: a seed is not written without a passphrase")
	}
	if err := h.check(); err != nil {
		return fmt.Errorf("signer: a seed file can not be this hard: %+v", h)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("signer: %s: %w; a seed is never written over", path, fs.ErrExist)
	}
	plain, err := s.entropy()
	if err != nil {
		return err
	}
	f := seedFile{Version: seedVersion, KDF: seedKDF, Hardness: h, Cipher: seedCipher, Salt: make([]byte, saltBytes), Nonce: make([]byte, chacha20poly1305.NonceSizeX)}
	_, _ = rand.Read(f.Salt)
	_, _ = rand.Read(f.Nonce)
	aead, err := chacha20poly1305.NewX(f.key(pass))
	if err != nil {
		return fmt.Errorf("signer: seal: %w", err)
	}
	head, err := f.head()
	if err != nil {
		return fmt.Errorf("signer: seal: %w", err)
	}
	f.Sealed = aead.Seal(nil, f.Nonce, plain, head)
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("signer: seal: %w", err)
	}
	return writeNew(path, append(text, '\n'))
}

// writeNew writes a whole new file or none.
func writeNew(path string, text []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".seed-*") // readable by its owner only
	if err != nil {
		return fmt.Errorf("signer: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(tmp.Name())) }()
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err != nil {
		return fmt.Errorf("signer: write %s: %w", path, err)
	}
	// A link fails where a rename would write over what somebody else made meanwhile.
	if err := os.Link(tmp.Name(), path); err != nil {
		return fmt.Errorf("signer: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("signer: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ReadSeed opens a seed file.
func ReadSeed(path string, pass secret.Text) (Seed, error) {
	text, err := readPrivate(path)
	if err != nil {
		return Seed{}, err
	}
	var f seedFile
	if json.Unmarshal(text, &f) != nil || f.Version != seedVersion || f.KDF != seedKDF || f.Cipher != seedCipher ||
		len(f.Nonce) != chacha20poly1305.NonceSizeX || f.Hardness.check() != nil {
		return Seed{}, fmt.Errorf("%s: %w", path, ErrLocked)
	}
	aead, err := chacha20poly1305.NewX(f.key(pass))
	if err != nil {
		return Seed{}, fmt.Errorf("signer: open: %w", err)
	}
	head, err := f.head()
	if err != nil {
		return Seed{}, fmt.Errorf("signer: open: %w", err)
	}
	plain, err := aead.Open(nil, f.Nonce, f.Sealed, head)
	if err != nil {
		return Seed{}, fmt.Errorf("%s: %w", path, ErrLocked)
	}
	return seedOf(plain)
}

// ReadSecret reads a passphrase or a mnemonic from a file that only its owner may
// read. The end of its last line does not belong to it.
func ReadSecret(path string) (secret.Text, error) {
	text, err := readPrivate(path)
	if err != nil {
		return secret.Text{}, err
	}
	s := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if s == "" {
		return secret.Text{}, fmt.Errorf("signer: %s is empty", path)
	}
	return secret.New(s), nil
}

// readPrivate reads a file that nobody but its owner may read. The file that was
// opened is asked, so that it cannot be changed for another in between.
func readPrivate(path string) (text []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("signer: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("signer: %s is not a plain file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s has the mode %04o: %w; write chmod 600 %s", path, info.Mode().Perm(), ErrOpenToOthers, path)
	}
	text, err = io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("signer: %w", err)
	case len(text) > maxSecretFile:
		return nil, fmt.Errorf("signer: %s is too long to be a secret", path)
	}
	return text, nil
}
