package market

import (
	"context"
	"crypto/sha256"
	"time"
)

// MaxLeaves is how many quotes one signature vouches for at most.
const MaxLeaves = maxLeaves

// SignTogether signs terms in one tree.
func SignTogether(s *Signer, all []Public) ([]string, error) {
	t := &tree{}
	for _, p := range all {
		text, err := p.appendCanonical([]byte{leafMark})
		if err != nil {
			return nil, err
		}
		if leaf := node(sha256.Sum256(text)); len(t.nodes) == 0 {
			t.nodes = []node{leaf}
		} else {
			t.add(leaf)
		}
	}
	t.sign(s.sign)
	signatures := make([]string, len(all))
	for i := range all {
		signatures[i] = t.vouch(i)
	}
	return signatures, nil
}

// Hold keeps a signer from signing until it is let go.
func Hold(s *Signer) (release func()) {
	s.signing.Lock()
	return s.signing.Unlock
}

// Waiting is how many quotes are in the tree that is open.
func Waiting(s *Signer) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return 0
	}
	return len(s.open.nodes)
}

// SignText signs a text as it is, as nothing in the room does.
func SignText(s *Signer, text []byte) []byte { return s.sign(text) }

// Within is the context of a quote, and what ends it.
func Within(ctx context.Context, d time.Duration) (context.Context, func()) {
	c := within(ctx, d)
	return c, c.end
}

// RateOf and RateText are the two ways to compute a rate.
var (
	RateOf   = rateOf
	RateText = rateText
)
