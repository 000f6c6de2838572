package market

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

// A tree is as in RFC 6962: the first byte of what is hashed says whether it is a leaf
// or a node, so that nobody can pass a node off as the text of a quote. What is signed
// begins with words of its own, so that a signature of a root is never one of anything
// else. The digests on a path tell nothing of the quotes beside: each has an id that
// nobody can guess.
const (
	leafMark = 0x00
	nodeMark = 0x01
	rootHead = "ferry-quotes-root-v1\n"

	// maxPath bounds a path, and with it a signature's text and the size of a tree.
	maxPath   = 6
	maxLeaves = 1 << maxPath
)

type node [sha256.Size]byte

// parent is the node above two.
func parent(left, right *node) node {
	var b [1 + 2*sha256.Size]byte
	b[0] = nodeMark
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// rootText is what is signed of a tree.
func rootText(root node) []byte {
	return append(append(make([]byte, 0, len(rootHead)+len(root)), rootHead...), root[:]...)
}

// tree is quotes that are signed together.
type tree struct {
	// nodes are the leaves, and once it is signed every level above them, one after the
	// other. The last node of a level without a neighbour goes up as it is.
	nodes     []node
	leaves    int
	signature []byte
	signed    chan struct{} // closed when it is; nil while there is one leaf only
}

// add puts one more leaf in and says which it is.
func (t *tree) add(l node) int {
	if t.signed == nil {
		t.signed = make(chan struct{})
		t.nodes = append(make([]node, 0, 2*maxLeaves), t.nodes...)
	}
	t.nodes = append(t.nodes, l)
	return len(t.nodes) - 1
}

// sign ends the tree and lets everybody go on who waits for it.
func (t *tree) sign(sign func([]byte) []byte) {
	t.leaves = len(t.nodes)
	for from, n := 0, t.leaves; n > 1; {
		level := t.nodes[from : from+n]
		for i := 0; i+1 < n; i += 2 {
			t.nodes = append(t.nodes, parent(&level[i], &level[i+1]))
		}
		if n%2 == 1 {
			t.nodes = append(t.nodes, level[n-1])
		}
		from, n = from+n, (n+1)/2
	}
	t.signature = sign(rootText(t.nodes[len(t.nodes)-1]))
	if t.signed != nil {
		close(t.signed)
	}
}

// vouch is the signature of leaf i: "ed25519:" and the signature, and in a tree of more
// leaves ":", the turns, ":" and the digests beside the way up, from the leaf on. Bit k
// of the turns, from the least on, is set where digest k is on the left.
func (t *tree) vouch(i int) string {
	var room [len(signaturePrefix) + 88 + 1 + 2 + 1 + (maxPath*sha256.Size+2)/3*4]byte
	b := append(room[:0], signaturePrefix...)
	b = base64.StdEncoding.AppendEncode(b, t.signature)
	if t.leaves == 1 {
		return string(b)
	}
	var way [maxPath * sha256.Size]byte
	path, turns := way[:0], uint64(0)
	for from, n := 0, t.leaves; n > 1; from, n, i = from+n, (n+1)/2, i/2 {
		if i^1 >= n {
			continue // it has no neighbour
		}
		turns |= uint64(i&1) << (len(path) / sha256.Size)
		path = append(path, t.nodes[from+(i^1)][:]...)
	}
	b = append(strconv.AppendUint(append(b, ':'), turns, 10), ':')
	return string(base64.StdEncoding.AppendEncode(b, path))
}

// vouched is the text of a signature, read.
type vouched struct {
	signature []byte
	turns     uint64
	path      []byte
}

// parseVouch reads what vouch writes and nothing else: there is one text for each
// signature.
func parseVouch(text string) (vouched, bool) {
	rest, ok := strings.CutPrefix(text, signaturePrefix)
	head, way, more := strings.Cut(rest, ":")
	var v vouched
	var sound bool
	if v.signature, sound = strictBase64(head); !ok || !sound || len(v.signature) != ed25519.SignatureSize {
		return vouched{}, false
	}
	if !more {
		return v, true
	}
	turns, path, _ := strings.Cut(way, ":")
	n, err := strconv.ParseUint(turns, 10, maxPath)
	if err != nil || strconv.FormatUint(n, 10) != turns {
		return vouched{}, false
	}
	v.turns = n
	v.path, sound = strictBase64(path)
	steps := len(v.path) / sha256.Size
	return v, sound && len(v.path)%sha256.Size == 0 && steps >= 1 && steps <= maxPath && n < 1<<steps
}

// root is where the path leads from a leaf.
func (v vouched) root(at node) node {
	for k := 0; k*sha256.Size < len(v.path); k++ {
		beside := node(v.path[k*sha256.Size:])
		if v.turns>>k&1 == 1 {
			at = parent(&beside, &at)
		} else {
			at = parent(&at, &beside)
		}
	}
	return at
}

// strictBase64 takes one text for each content only; the decoder alone would pass over
// line breaks.
func strictBase64(text string) ([]byte, bool) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	return b, err == nil
}
