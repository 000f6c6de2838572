package tail

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Config is what is followed, and how it is shown.
type Config struct {
	Source Source
	From   From
	// Dense says that the numbers of the source have no gap: one is never passed over.
	Dense bool
	// Keep goes on after the end of the one order that is followed.
	Keep bool
	// Show prints an event or a snapshot.
	Show func(Item) error
	// Say tells whoever watches of trouble; nil tells nobody.
	Say func(string)
	// First and Most are the shortest and the longest pause before the next try: 500 ms and
	// 30 s where they are zero.
	First, Most time.Duration
}

// Tail follows one source.
type Tail struct {
	cfg   Config
	from  From
	heard bool // something was told at least once
	shown bool // and shown
}

// New makes a tail.
func New(cfg Config) *Tail {
	if cfg.First == 0 {
		cfg.First = 500 * time.Millisecond
	}
	if cfg.Most == 0 {
		cfg.Most = 30 * time.Second
	}
	if cfg.Say == nil {
		cfg.Say = func(string) {}
	}
	return &Tail{cfg: cfg, from: cfg.From}
}

// After is the number to go on after; false before one is known.
func (t *Tail) After() (int64, bool) {
	if t.from.After == nil {
		return 0, false
	}
	return *t.from.After, true
}

// Heard reports whether the service told anything.
func (t *Tail) Heard() bool { return t.heard }

// errDone: the order is at its end. errShow: what was told could not be shown.
var (
	errDone = errors.New("tail: the order is at its end")
	errShow = errors.New("the output can not be written")
)

// Run follows until the order is at its end, the context ends or the service refuses for
// good. The first two are no error.
func (t *Tail) Run(ctx context.Context) error {
	for tries := 0; ; tries++ {
		progress := false
		err := t.cfg.Source.Hear(ctx, t.from, func(i Item) error {
			progress, t.heard = true, true
			return t.take(i)
		})
		if errors.Is(err, errDone) || ctx.Err() != nil && !errors.Is(err, errShow) {
			return nil
		}
		if _, no := errors.AsType[*Refusal](err); no || errors.Is(err, errShow) {
			return err
		}
		later, asked := errors.AsType[*laterError](err)
		if !t.heard && !asked { // whoever names a wrong address should not wait for it
			return err
		}
		if progress {
			tries = 0
		}
		pause := t.pause(tries)
		if asked && later.wait > 0 {
			pause = min(later.wait, time.Minute)
		}
		t.cfg.Say(fmt.Sprintf("%s; trying again in %s", why(err), pause.Round(10*time.Millisecond)))
		if !rest(ctx, pause) {
			return nil
		}
	}
}

func why(err error) string {
	if err == nil {
		return "the connection ended"
	}
	return plain(err.Error())
}

// pause doubles with every try in vain, and half of it is chance, so that not everybody
// comes back at the same time.
func (t *Tail) pause(tries int) time.Duration {
	most := t.cfg.Most
	if tries < 16 {
		most = min(most, t.cfg.First<<tries)
	}
	return most/2 + rand.N(most/2+1)
}

func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// take shows an item that was not shown before.
func (t *Tail) take(i Item) error {
	after, known := t.After()
	switch {
	case i.Kind == Mark:
		if !known {
			t.at(i.Seq)
		}
	case i.Kind == Snapshot:
		if err := t.show(i); err != nil {
			return err
		}
		t.at(i.Seq)
	case known && i.Seq <= after: // it was shown before
	case known && t.cfg.Dense && i.Seq != after+1:
		return fmt.Errorf("number %d came after %d, with a gap between them", i.Seq, after)
	default:
		if err := t.show(i); err != nil {
			return err
		}
		t.at(i.Seq)
	}
	if i.Finished && !t.cfg.Keep {
		if !t.shown {
			t.cfg.Say("the order is at its end, and nothing more happened to it; --after 0 shows it from its beginning")
		}
		return errDone
	}
	return nil
}

func (t *Tail) show(i Item) error {
	if err := t.cfg.Show(i); err != nil {
		return fmt.Errorf("%w: %w", errShow, err)
	}
	t.shown = true
	return nil
}

// at notes how far it is. What was asked for as the last few is a number from then on.
func (t *Tail) at(seq int64) { t.from = From{After: &seq} }
