package report

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"
)

// Standing is what an account has in the season that runs now, and of all seasons. One
// that nobody ever heard of has nothing, and can not be told from one with nothing.
type Standing struct {
	Account        string
	Season         string
	Pending, Final int64
	Lifetime       int64
	Rank           int64     // zero: not among the first
	UpdatedAt      time.Time // zero: never
}

// Rank is a place on the board.
type Rank struct {
	Rank   int64
	Masked string
	Points int64
}

// maxRank is how far ranks are told. Further ones would cost what there are accounts.
const maxRank = 1000

// MaxBoard is how many places the board shows at most.
const MaxBoard = 100

// Program is what points are given for.
func (r *Reporter) Program() Program { return r.program }

// PointsOf is what an account has. Points are pending until their hour and the time
// that the program says are over, and final then: nobody has to make them so.
func (r *Reporter) PointsOf(ctx context.Context, account string, now time.Time) (Standing, error) {
	s := Standing{Account: account, Season: r.program.Season}
	all, err := r.store.Points(ctx, account)
	if err != nil {
		return Standing{}, err
	}
	ranked := false
	for _, a := range all {
		s.Lifetime += a.Points
		if a.UpdatedAt.After(s.UpdatedAt) {
			s.UpdatedAt = a.UpdatedAt
		}
		if a.Season == s.Season {
			s.Final, ranked = a.Points, a.Ranked
		}
	}
	if s.Final == 0 {
		return s, nil // nothing of this season: nothing is pending, and no rank is told
	}
	total := s.Final
	waiting, err := r.store.Tallies(ctx, pointsOf(account), Hour(now)-int64(r.program.Finality/time.Hour), Hour(now)+1)
	if err != nil {
		return Standing{}, fmt.Errorf("pending points: %w", err) // whose is not for a log
	}
	for _, t := range waiting {
		if t.Name == s.Season {
			s.Pending += t.N
		}
	}
	s.Final -= s.Pending
	if !ranked || total <= 0 {
		return s, nil
	}
	ahead, err := r.store.Ahead(ctx, s.Season, total, maxRank)
	if err != nil {
		return Standing{}, err
	}
	if ahead < maxRank {
		s.Rank = ahead + 1
	}
	return s, nil
}

// Board are the first of the season that runs, with their addresses masked.
func (r *Reporter) Board(ctx context.Context, n int, now time.Time) ([]Rank, error) {
	return r.boards.get(ctx, n, now, func(ctx context.Context) ([]Rank, error) {
		first, err := r.store.Board(ctx, r.program.Season, n)
		if err != nil {
			return nil, err
		}
		ranks := make([]Rank, 0, len(first))
		for i, a := range first {
			rank := Rank{Rank: int64(i + 1), Masked: mask(a.Name), Points: a.Points}
			if i > 0 && ranks[i-1].Points == a.Points { // who has as many is not behind
				rank.Rank = ranks[i-1].Rank
			}
			ranks = append(ranks, rank)
		}
		return ranks, nil
	})
}

// mask leaves of an address what its owner knows it by and nobody finds it by.
func mask(address string) string {
	const head, tail = 4, 2
	if len(address) < 2*(head+tail) || !utf8.ValidString(address) {
		return "…"
	}
	return address[:head] + "…" + address[len(address)-tail:]
}

// Activity are items that are published, the newest first, from a place; the zero place
// is the beginning.
func (r *Reporter) Activity(ctx context.Context, from ActivityPlace, now time.Time, n int) ([]Activity, error) {
	return r.store.Activity(ctx, from, now, n)
}

// ActivityAfter are those behind a place, the oldest first, for whoever follows. Nothing
// is ever published before what was read already.
func (r *Reporter) ActivityAfter(ctx context.Context, after ActivityPlace, now time.Time, n int) ([]Activity, error) {
	return r.store.ActivityAfter(ctx, after, now, n)
}
