package limit

import "time"

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
