package signer

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
)

// hardened is the bit of an index that says that a child cannot be made from a
// public key. SLIP-10 has no other children on this curve.
const hardened = 1 << 31

// edNode is a node of a SLIP-10 tree of Ed25519 keys: a key's seed and the chain code.
type edNode struct{ key, code [32]byte }

func edMaster(seed []byte) edNode { return edSplit([]byte("ed25519 seed"), seed) }

// child is the hardened child of an index.
func (n edNode) child(index uint32) edNode {
	data := append([]byte{0}, n.key[:]...)
	return edSplit(n.code[:], binary.BigEndian.AppendUint32(data, index|hardened))
}

// at follows a path of hardened indexes.
func (n edNode) at(path ...uint32) edNode {
	for _, i := range path {
		n = n.child(i)
	}
	return n
}

func (n edNode) private() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(n.key[:]) }

func edSplit(key, data []byte) (n edNode) {
	mac := hmac.New(sha512.New, key)
	mac.Write(data) // a hash never fails to take bytes
	sum := mac.Sum(nil)
	copy(n.key[:], sum[:32])
	copy(n.code[:], sum[32:])
	return n
}
