package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ferry/internal/integrator"
	"ferry/internal/order"
)

// page is how many entries are read at a time.
const page = 512

// Topic is what a listener wants to hear about.
type Topic struct{ kind, id string }

// Everything is the topic of the whole log. Its listeners may get entries without the
// order.
var Everything = Topic{kind: "everything"}

// OfOrder is the topic of an order.
func OfOrder(id order.ID) Topic { return Topic{"order", string(id)} }

// OfSession is the topic of the orders of a session, by its digest.
func OfSession(group string) Topic { return Topic{"session", group} }

// OfIntegrator is the topic of the orders of an integrator.
func OfIntegrator(id integrator.ID) Topic { return Topic{"integrator", string(id)} }

// Listener hears entries. Heard must not wait for anything, and must not call the hub.
type Listener interface{ Heard(e *Entry) }

// Hub reads the log once for all listeners.
type Hub struct {
	log Log

	mu     sync.Mutex
	seq    int64 // the last entry handed out
	topics map[Topic]map[*seat]struct{}
}

// seat is a listener's place: who listens twice has two.
type seat struct{ who Listener }

// NewHub makes a hub that begins at the log's present end.
func NewHub(ctx context.Context, log Log) (*Hub, error) {
	head, err := log.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("head of the feed: %w", err)
	}
	return &Hub{log: log, seq: head, topics: map[Topic]map[*seat]struct{}{}}, nil
}

// Listen lets somebody hear every later entry of a topic, and gives the number after
// which that begins. Once stop has returned nothing more is heard.
func (h *Hub) Listen(t Topic, who Listener) (after int64, stop func()) {
	s := &seat{who}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[t] == nil {
		h.topics[t] = map[*seat]struct{}{}
	}
	h.topics[t][s] = struct{}{}
	return h.seq, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if delete(h.topics[t], s); len(h.topics[t]) == 0 {
			delete(h.topics, t)
		}
	}
}

// Step hands out what was written since the last step. An entry whose number does
// not follow the one before is an error: the log promises that there are no gaps.
func (h *Hub) Step(ctx context.Context) error {
	for {
		h.mu.Lock()
		from := h.seq
		h.mu.Unlock()
		entries, err := h.log.Since(ctx, from, page)
		if err != nil {
			return fmt.Errorf("feed after %d: %w", from, err)
		}
		for rest := entries; len(rest) > 0; {
			bare, err := h.hand(&rest)
			if err == nil {
				err = h.fill(ctx, rest, bare)
			}
			if err != nil {
				return err
			}
		}
		if len(entries) < page {
			return nil
		}
	}
}

// hand gives entries to those who want them, up to one whose order is not known and is
// wanted; then it says which of the rest are such.
func (h *Hub) hand(rest *[]Entry) (bare []int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(*rest) > 0 {
		e := &(*rest)[0]
		if e.Seq != h.seq+1 {
			return nil, fmt.Errorf("feed: entry %d follows %d", e.Seq, h.seq)
		}
		if e.Now == nil && h.wanted(e) {
			for i := range *rest {
				if one := &(*rest)[i]; one.Now == nil && h.wanted(one) {
					bare = append(bare, one.Seq)
				}
			}
			return bare, nil
		}
		h.seq = e.Seq
		for _, t := range e.topics() {
			for s := range h.topics[t] {
				s.who.Heard(e)
			}
		}
		*rest = (*rest)[1:]
	}
	return nil, nil
}

// fill reads the orders of bare entries.
func (h *Hub) fill(ctx context.Context, rest []Entry, bare []int64) error {
	if len(bare) == 0 {
		return nil
	}
	found, err := h.log.Moments(ctx, bare)
	if err != nil {
		return fmt.Errorf("feed after %d: %w", rest[0].Seq-1, err)
	}
	whole := make(map[int64]*order.Order, len(found))
	for _, e := range found {
		whole[e.Seq] = e.Now
	}
	for i := range rest {
		if now := whole[rest[i].Seq]; now != nil {
			rest[i].Now = now
		}
	}
	return nil
}

func (e *Entry) topics() [4]Topic {
	return [4]Topic{OfOrder(e.Order), OfSession(e.Session), OfIntegrator(e.Integrator), Everything}
}

// wanted reports whether somebody listens to whom the order is promised.
func (h *Hub) wanted(e *Entry) bool {
	for _, t := range e.topics() {
		if t != Everything && len(h.topics[t]) > 0 {
			return true
		}
	}
	return false
}

// Run hands entries out as they are written, and looks by itself every so often
// for those that another process wrote. Trouble is told and tried again: the log
// is on disk, and a listener misses nothing.
func (h *Hub) Run(ctx context.Context, every time.Duration, trouble func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		woken := h.log.Woken()
		if err := h.Step(ctx); err != nil && ctx.Err() == nil {
			trouble(err)
			woken = nil // rest until the next tick
		}
		select {
		case <-ctx.Done():
			return
		case <-woken:
		case <-tick.C:
		}
	}
}
