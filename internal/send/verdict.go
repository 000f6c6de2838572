package send

import (
	"time"

	"ferry/internal/chain"
)

// seen is an attempt with what became of it.
type seen struct {
	kept   Kept
	status chain.Status
}

// next is what a transfer needs now.
type next uint8

const (
	wait    next = iota
	finish       // one attempt landed for good: close
	offer        // no node knows the newest attempt: offer the bytes again
	bump         // it waits: raise its price if the ramp allows
	cancel       // it has had its time: use up its slot
	draft        // nothing of it can land: sign a first or another attempt
	abandon      // nothing of it can land and its time is over
)

// decide folds the fates of all attempts of a transfer into what to do next. It
// never raises or replaces anything while one of them stands in a block.
func decide(t Transfer, all []seen, now time.Time) (next, *seen) {
	overdue := !t.GiveUp.IsZero() && !now.Before(t.GiveUp)
	var newest *seen
	included := false
	for i := range all {
		s := &all[i]
		switch s.status.Fate {
		case chain.Final, chain.Reverted:
			return finish, s
		case chain.Included:
			included = true
		}
		if s.status.Fate != chain.Dead {
			newest = s
		}
	}
	switch {
	case included:
		return wait, nil
	case newest == nil && overdue:
		return abandon, nil
	case newest == nil:
		return draft, nil
	case overdue && !newest.kept.Cancel:
		return cancel, newest
	case newest.status.Fate == chain.Missing:
		return offer, newest
	}
	return bump, newest
}

// result is how a transfer ends whose attempt landed for good.
func (s seen) result() Result {
	r := Result{Fate: s.status.Fate, Tx: s.kept.Tx, Cost: s.status.Fee, Block: s.status.Block}
	switch {
	case s.kept.Cancel:
		r.Fate, r.Why = chain.Dead, "it did not land in time and was cancelled"
	case r.Fate == chain.Reverted:
		r.Why = "it failed on the chain"
	}
	return r
}
