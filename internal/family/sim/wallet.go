package sim

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"

	"ferry/internal/chain"
)

// key signs for one address. The nets know the keys of all addresses, so a keyed
// hash is signature enough: it costs a microsecond and no other bytes pass.
type key struct {
	secret [32]byte
	addr   chain.Address
}

func (k key) sign(b *body) (chain.TxID, []byte) { return keys{k}.sign(b) }

func (k key) mac(signed []byte) [sigBytes]byte {
	buf := make([]byte, 0, len(k.secret)+len(signed))
	return sha256.Sum256(append(append(buf, k.secret[:]...), signed...))
}

// keys sign together: a sweep is signed by whoever pays for it and by every address
// that it empties.
type keys []key

func (ks keys) sign(b *body) (chain.TxID, []byte) {
	raw := b.encode()
	sig := ks.mac(raw)
	raw = append(raw, sig[:]...)
	return txID(raw), raw
}

func (ks keys) mac(signed []byte) [sigBytes]byte {
	sig := ks[0].mac(signed)
	for _, k := range ks[1:] {
		more := k.mac(signed)
		sig = sha256.Sum256(append(sig[:], more[:]...))
	}
	return sig
}

func (ks keys) signed(body, sig []byte) bool {
	if len(ks) == 0 {
		return false
	}
	want := ks.mac(body)
	return subtle.ConstantTimeCompare(want[:], sig) == 1
}

func txID(raw []byte) chain.TxID {
	h := sha256.Sum256(raw)
	return chain.TxID(hex.EncodeToString(h[:16]))
}

// Wallet holds the keys of our own accounts on one net.
type Wallet struct{ keys map[chain.Account]key }

// Own is the address of an account; the zero address if it is not ours.
func (w *Wallet) Own(a chain.Account) chain.Address { return w.keys[a].addr }

func newWallet(codec Codec, seed uint64, accounts []chain.Account) *Wallet {
	w := &Wallet{keys: make(map[chain.Account]key, len(accounts))}
	for _, a := range accounts {
		w.keys[a] = newKey(codec, seed, "account", string(a))
	}
	return w
}

func newKey(codec Codec, seed uint64, kind, name string) key {
	k := key{secret: sha256.Sum256(binary.BigEndian.AppendUint64([]byte("secret/"+kind+"/"+name+"/"), seed))}
	h := sha256.Sum256(append([]byte("public/"), k.secret[:]...))
	k.addr = codec.form.Make(h[:])
	return k
}

// has reports whether an address is one of the wallet's own.
func (w *Wallet) has(addr string) bool {
	for _, k := range w.keys {
		if k.addr.Text() == addr {
			return true
		}
	}
	return false
}
