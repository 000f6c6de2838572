package store

import (
	"ferry/internal/order"
)

// How much the writer remembers, and for how many batches it trusts only what it
// reads after another process was seen to write.
const (
	memoOrders   = 16384
	memoDistrust = 256
)

// memo is what the writer remembers of what it wrote itself: the newest numbers
// and the orders it moved last. It saves reading them again. It is never believed
// blindly: what it is wrong about breaks a key (a number of the feed or of the
// postings) or an order's version, and then everything is read; and a refusal
// counts only for an order that was read.
type memo struct {
	head      head
	headKnown bool
	young     map[order.ID]*order.Order
	old       map[order.ID]*order.Order
	used      bool // by the batch at work
	distrust  int  // batches to go without remembering
}

// order is an order as it was written last, or nil.
func (m *memo) order(id order.ID) *order.Order {
	if o := m.young[id]; o != nil {
		return o
	}
	return m.old[id]
}

// learn remembers what a batch left behind.
func (m *memo) learn(t *tx) {
	if t.orders == nil {
		return // it booked nothing
	}
	if m.distrust > 0 {
		m.distrust--
		return
	}
	m.head, m.headKnown = t.head, true
	for id, o := range t.orders {
		if o == nil {
			continue
		}
		if m.young == nil || len(m.young) >= memoOrders {
			m.young, m.old = make(map[order.ID]*order.Order, memoOrders), m.young
		}
		m.young[id] = o
	}
}

func (m *memo) forget() {
	m.headKnown, m.young, m.old = false, nil, nil
}

// outdated is asked after a unique key was broken: it forgets everything, and says
// whether something remembered may have been the cause.
func (m *memo) outdated() bool {
	if !m.used {
		return false
	}
	m.forget()
	m.used, m.distrust = false, memoDistrust
	return true
}
