package feed

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// page is how many entries are read at a time.
const page = 512

// Hub reads the log once for all listeners.
type Hub struct {
	log Log

	mu        sync.Mutex
	seq       int64 // the last entry handed out
	next      int
	listeners map[int]*listener
}

type listener struct {
	want func(Entry) bool
	ch   chan Entry
}

// NewHub makes a hub that begins at the log's present end.
func NewHub(ctx context.Context, log Log) (*Hub, error) {
	head, err := log.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("head of the feed: %w", err)
	}
	return &Hub{log: log, seq: head, listeners: map[int]*listener{}}, nil
}

// Listen gives every later entry that want accepts, and the number after which it
// begins. The channel is closed when the listener falls more than buffer entries
// behind, or by the function that is returned.
func (h *Hub) Listen(want func(Entry) bool, buffer int) (entries <-chan Entry, after int64, stop func()) {
	l := &listener{want: want, ch: make(chan Entry, buffer)}
	h.mu.Lock()
	defer h.mu.Unlock()
	id := h.next
	h.next++
	h.listeners[id] = l
	return l.ch, h.seq, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.drop(id)
	}
}

// drop closes a listener; the caller holds the lock.
func (h *Hub) drop(id int) {
	if l, ok := h.listeners[id]; ok {
		delete(h.listeners, id)
		close(l.ch)
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
		if err := h.hand(entries); err != nil {
			return err
		}
		if len(entries) < page {
			return nil
		}
	}
}

func (h *Hub) hand(entries []Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		if e.Seq != h.seq+1 {
			return fmt.Errorf("feed: entry %d follows %d", e.Seq, h.seq)
		}
		h.seq = e.Seq
		for id, l := range h.listeners {
			if !l.want(e) {
				continue
			}
			select {
			case l.ch <- e:
			default:
				h.drop(id)
			}
		}
	}
	return nil
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
