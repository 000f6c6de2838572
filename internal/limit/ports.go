package limit

import (
	"context"
	"time"
)

// Counter counts what was taken in the last minute. Memory is the one of a single
// process; one that many processes share can take its place.
type Counter interface {
	// Take takes one of every claim, or nothing at all if one of them is used up.
	Take(now time.Time, claims []Claim) Verdict
	// Look judges as Take does and takes nothing.
	Look(now time.Time, claims []Claim) Verdict
	// Used is how much of each subject counts at the moment, for reports.
	Used(now time.Time, subjects ...Subject) []int64
}

// Pool is where the processes of a deployment get what they spend of the limits of
// companies. Its clock is one for all of them.
type Pool interface {
	// Beat gives a process a lease from now on, and says which subjects others wait
	// for. It answers false to one whose lease has run out: that one must not have it
	// back, and begins again under another name. A fresh process has none yet.
	Beat(ctx context.Context, process string, lease time.Duration, fresh bool) (alive bool, wanted []string, err error)
	// Trade is one Account.Trade for every offer, kept before it answers: all or none.
	Trade(ctx context.Context, process string, offers []Offer) ([]Deal, error)
}
