package signer

import (
	"slices"
	"time"

	"ferry/internal/money"
	"ferry/internal/send"
)

// hour is the time of which a cap speaks.
const hour = time.Hour

// maxPapers bounds how many transactions that could land beside one another are
// signed for one wish within an hour. One that was signed and then not kept is
// followed by another, which an honest caller needs when its store fails; what it did
// not keep it did not send.
const maxPapers = 8

// count is what was signed on a chain within the last hour, in the signer's own
// memory: all that could leave, and not only what a caller says has left.
type count struct{ entries []counted }

// counted is one transaction, or several that all need the same tokens, so that only
// one of them can land.
type counted struct {
	wish   send.ID
	tokens []string
	usd    money.USD
	at     time.Time
}

// allow says whether one more may be signed. What is proven dead no longer counts,
// nor does what the paper takes the place of. A paper that replaces a kept attempt
// was allowed when that was signed, unless it could land beside another paper.
func (c *count) allow(e counted, f footing, limit money.USD) error {
	c.entries = slices.DeleteFunc(c.entries, func(o counted) bool {
		same := func(dead []string) bool { return slices.Equal(dead, o.tokens) }
		return e.at.Sub(o.at) >= hour || o.wish == e.wish && slices.ContainsFunc(f.dead, same)
	})
	sum, beside := e.usd, 0
	for _, o := range c.entries {
		if o.wish == e.wish && share(o.tokens, e.tokens) {
			continue
		}
		sum = sum.PlusCapped(o.usd)
		if o.wish == e.wish {
			beside++
		}
	}
	switch {
	case f.replaces && beside == 0:
		return nil
	case sum > limit:
		return refuse(Capped, "with %s this hour would see %s dollars leave, %s are allowed", e.wish, sum, limit)
	case beside >= maxPapers:
		return refuse(Beside, "%d transactions that were not kept are signed for %s already", beside, e.wish)
	}
	return nil
}

// add counts a paper that was signed.
func (c *count) add(e counted) {
	for i, o := range c.entries {
		if o.wish == e.wish && share(o.tokens, e.tokens) {
			// Only what all of them need keeps them from landing beside one another.
			c.entries[i].tokens = both(o.tokens, e.tokens)
			return
		}
	}
	c.entries = append(c.entries, e)
}

func share(a, b []string) bool { return len(both(a, b)) > 0 }

func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(t string) bool { return !slices.Contains(b, t) })
}
