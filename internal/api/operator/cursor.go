package operator

import (
	"context"
	"net/url"
	"sort"

	"ferry/internal/fault"
	"ferry/internal/feed"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/order"
)

// streamPage is how many events are read at a time.
const streamPage = 100

// cursor goes through the log, or through the part of it that is about one order or one
// integrator. All of them are numbered by the log as a whole.
type cursor struct {
	topic feed.Topic
	// next reads what follows, oldest first; nothing if there is nothing more yet.
	next     func(ctx context.Context) ([]feed.Entry, error)
	seq      int64 // everything up to it was read
	finished bool  // the one order is at its end
}

// wanted is what somebody asks to be streamed.
type wanted struct {
	order      order.ID
	integrator integrator.ID
	after      *int64
	last       *int64
}

func wantedOf(values url.Values) (w wanted, err error) {
	w.order, w.integrator = order.ID(values.Get("order")), integrator.ID(values.Get("integrator"))
	for name, to := range map[string]**int64{"after": &w.after, "last": &w.last} {
		n, err := number(values, name, 0)
		if err != nil {
			return w, err
		}
		if values.Has(name) {
			*to = &n
		}
	}
	if w.after != nil && w.last != nil {
		return w, fault.New(fault.Invalid, "invalid_field", "last: stands beside after; give one of the two.").With("field", "last")
	}
	if values.Has("order") && values.Has("integrator") {
		return w, fault.New(fault.Invalid, "invalid_field", "integrator: stands beside order; give one of the two.").With("field", "integrator")
	}
	return w, nil
}

// open finds where a stream begins: after a number, before the last few, or now.
func (j *Events) open(ctx context.Context, w wanted, o *office.Office) (*cursor, error) {
	head, err := j.Journal.Head(ctx)
	if err != nil {
		return nil, err
	}
	from := head
	if w.after != nil {
		if from = *w.after; from > head {
			return nil, fault.New(fault.Invalid, "unknown_seq", "after: the log ends with number %d. A higher one is of another database, or of the log of an integrator; ask without it.", head).
				With("field", "after")
		}
	}
	switch {
	case w.order != "":
		return j.ofOrder(ctx, w, from)
	case w.integrator != "":
		if _, err := o.Show(ctx, w.integrator); err != nil {
			return nil, err
		}
		return j.ofIntegrator(ctx, w, from)
	}
	if w.last != nil {
		from = max(0, head-*w.last)
	}
	c := &cursor{topic: feed.Everything, seq: from}
	c.next = func(ctx context.Context) ([]feed.Entry, error) {
		page, err := j.Journal.Since(ctx, c.seq, streamPage)
		if err != nil {
			return nil, err
		}
		return page, j.fill(ctx, page)
	}
	return c, nil
}

// fill reads the orders of entries that have none.
func (j *Events) fill(ctx context.Context, page []feed.Entry) error {
	var bare []int64
	at := map[int64]int{}
	for i := range page {
		if page[i].Now == nil {
			bare, at[page[i].Seq] = append(bare, page[i].Seq), i
		}
	}
	if len(bare) == 0 {
		return nil
	}
	found, err := j.Journal.Moments(ctx, bare)
	if err != nil {
		return err
	}
	for _, e := range found {
		page[at[e.Seq]].Now = e.Now
	}
	return nil
}

var errNoOrder = fault.New(fault.NotFound, "order_not_found", "There is no such order; look up its id.")

// ofOrder goes through the log of an order, which is short: where it begins is found by
// reading it.
func (j *Events) ofOrder(ctx context.Context, w wanted, from int64) (*cursor, error) {
	type place struct {
		seq, version int64
		ends         bool
	}
	all, last := []place{}, int64(0)
	for {
		page, err := j.Journal.OrderLog(ctx, w.order, last, streamPage)
		if err != nil {
			return nil, err
		}
		for i := range page {
			last = page[i].Version
			all = append(all, place{page[i].Seq, last, page[i].State.Finished()})
		}
		if len(page) < streamPage {
			break
		}
	}
	if len(all) == 0 {
		return nil, errNoOrder
	}
	known := sort.Search(len(all), func(i int) bool { return all[i].seq > from })
	var at place
	if w.last != nil {
		known = len(all) - int(min(*w.last, int64(len(all))))
	}
	if known > 0 {
		at = all[known-1]
	}
	if w.last != nil {
		from = at.seq
	}
	version := at.version
	c := &cursor{topic: feed.OfOrder(w.order), seq: from, finished: at.ends}
	c.next = func(ctx context.Context) ([]feed.Entry, error) {
		page, err := j.Journal.OrderLog(ctx, w.order, version, streamPage)
		if len(page) > 0 {
			last := &page[len(page)-1]
			version, c.finished = last.Version, last.State.Finished()
		}
		return page, err
	}
	return c, nil
}

// ofIntegrator goes through the log of an integrator. That may be long, but its numbers
// have no gap and rise with those of the whole log, so that a few questions find where it
// begins.
func (j *Events) ofIntegrator(ctx context.Context, w wanted, from int64) (*cursor, error) {
	head, err := j.Journal.IntegratorHead(ctx, w.integrator)
	if err != nil {
		return nil, err
	}
	seqOf := func(n int64) (int64, error) {
		page, err := j.Journal.IntegratorLog(ctx, w.integrator, n-1, 1)
		if err != nil || len(page) == 0 {
			return 0, err
		}
		return page[0].Seq, nil
	}
	var n int64
	if w.last != nil {
		if n, from = max(0, head-*w.last), 0; n > 0 {
			from, err = seqOf(n)
		}
	} else {
		var failed error
		n = int64(sort.Search(int(head), func(i int) bool {
			seq, err := seqOf(int64(i) + 1)
			if err != nil {
				failed = err
			}
			return seq > from
		}))
		err = failed
	}
	if err != nil {
		return nil, err
	}
	c := &cursor{topic: feed.OfIntegrator(w.integrator), seq: from}
	c.next = func(ctx context.Context) ([]feed.Entry, error) {
		page, err := j.Journal.IntegratorLog(ctx, w.integrator, n, streamPage)
		if len(page) > 0 {
			n = page[len(page)-1].Number
		}
		return page, err
	}
	return c, nil
}
