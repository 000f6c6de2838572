package prices

import (
	"fmt"
	"time"

	"ferry/internal/market"
)

// judge decides of every symbol what it is worth, and shows it. Symbols that others are
// counted in come first.
func (b *Board) judge(now time.Time) {
	shown := make(map[string]*Status, len(b.told))
	measures := b.measures()
	for _, first := range []bool{true, false} {
		known := shown
		if first {
			known = nil
		}
		for symbol, words := range b.told {
			if measures[symbol] != first {
				continue
			}
			s := b.weigh(symbol, b.inDollars(words, known), now)
			b.lines[symbol].take(&s, b.cfg, now)
			shown[symbol] = &s
		}
	}
	b.shown.Store(&shown)
}

// measures are the symbols that some word is counted in.
func (b *Board) measures() map[string]bool {
	all := map[string]bool{}
	for _, words := range b.told {
		for _, w := range words {
			if w.in != "" {
				all[w.in] = true
			}
		}
	}
	return all
}

// inDollars are the words on a symbol, all of them in dollars. What is not known of the
// token that one is counted in is not known of it either; and one measure is never
// counted in another, so that two of them can not hold each other up.
func (b *Board) inDollars(words []word, known map[string]*Status) []word {
	out := make([]word, len(words))
	for i, w := range words {
		out[i] = w
		if w.in == "" {
			continue
		}
		s, ok := known[w.in]
		switch {
		case !ok || s.Price.IsZero():
			out[i] = word{why: fmt.Sprintf("counts in %s, which has no good price now", w.in)}
			continue
		case s.At.Before(w.at):
			out[i].at = s.At
		}
		if out[i].price = w.price.Times(s.Price); out[i].price.IsZero() {
			out[i] = word{why: "says what is no price in dollars"}
		}
	}
	return out
}

// weigh is the median of the fresh words, without those that are far from it.
func (b *Board) weigh(symbol string, words []word, now time.Time) Status {
	g := b.guards[symbol]
	s := Status{Symbol: symbol, Guard: g}
	drop := func(i int, why string) {
		s.Dropped = append(s.Dropped, Drop{b.sources[i].Name(), why, b.sources[i].Kind()})
	}
	fresh := make([]int, 0, len(words))
	for i, w := range words {
		switch {
		case w.why != "":
			drop(i, w.why)
		case w.price.IsZero():
			drop(i, "does not know it")
		case b.old(symbol, w.at, now):
			drop(i, "is too old")
		default:
			fresh = append(fresh, i)
		}
	}
	middle := market.Median(pricesOf(words, fresh))
	kept := make([]int, 0, len(fresh))
	kinds := map[Kind]bool{}
	for _, i := range fresh {
		if !words[i].price.Near(middle, g.MaxDeviation) {
			drop(i, fmt.Sprintf("says %s, too far from the median of %s", words[i].price, middle))
			continue
		}
		kept = append(kept, i)
		kinds[b.sources[i].Kind()] = true
		s.Said = append(s.Said, Said{b.sources[i].Name(), b.sources[i].Kind(), words[i].price, words[i].at})
	}
	s.Sources = len(kept)
	if len(kept) < g.Quorum || len(kinds) < g.MinKinds {
		return s
	}
	s.Price, s.At = market.Median(pricesOf(words, kept)), now
	for _, i := range kept {
		if words[i].at.Before(s.At) {
			s.At = words[i].at
		}
	}
	return s
}

func pricesOf(words []word, which []int) []market.Price {
	all := make([]market.Price, len(which))
	for n, i := range which {
		all[n] = words[i].price
	}
	return all
}

// take moves the line on by what was weighed. A price that jumped stops the symbol;
// a stopped one must hold, without a gap and without straying from where it began,
// before it is believed by itself.
func (l *line) take(s *Status, c Config, now time.Time) {
	p, g := s.Price, s.Guard
	switch {
	case p.IsZero(): // nothing is known, which is not the same as standing still
		l.next, l.since, l.nextAt = market.Price{}, time.Time{}, time.Time{}
	case !l.stopped && (l.good.IsZero() || !p.Beyond(l.good, g.MaxJump)):
		l.good = p
	case l.next.IsZero() || !p.Near(l.next, g.MaxDeviation):
		l.stopped, l.next, l.since, l.nextAt = true, p, now, s.At
	case now.Sub(l.since) >= c.Settle:
		*l = line{good: p}
	default:
		l.nextAt = s.At
	}
	l.show(s)
}

func (l *line) show(s *Status) {
	s.Stopped, s.Next = l.stopped, l.next
	if l.stopped {
		s.Price = market.Price{}
	}
}

// Confirm believes the price of a stopped symbol, if it is the one that was seen. It is
// for a person who looked.
func (b *Board) Confirm(symbol string, seen market.Price) (market.Price, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.lines[symbol]
	switch {
	case !ok || !l.stopped:
		return market.Price{}, fmt.Errorf("prices: %q is not stopped", symbol)
	case l.next.IsZero():
		return market.Price{}, fmt.Errorf("prices: %q has no price to confirm; its sources do not agree or do not answer", symbol)
	case l.next.Cmp(seen) != 0:
		return market.Price{}, fmt.Errorf("prices: %q is stopped at %s and not at %s", symbol, l.next, seen)
	}
	at := l.nextAt
	*l = line{good: l.next}
	old := *b.shown.Load()
	shown := make(map[string]*Status, len(old))
	for k, v := range old {
		shown[k] = v
	}
	s := *shown[symbol]
	s.Price, s.At = l.good, at
	l.show(&s)
	shown[symbol] = &s
	b.shown.Store(&shown)
	return l.good, nil
}
