package store

import (
	"maps"

	"ferry/internal/ledger"
	"ferry/internal/order"
)

// How much the writer remembers, and for how many batches it trusts only what it
// reads after another process was seen to write.
const (
	memoOrders   = 16384
	memoBalances = 4096
	memoLogs     = 16384
	memoDistrust = 256
)

// memo is what the writer remembers of what it wrote itself: the newest numbers
// and the orders it moved last. It saves reading them again. It is never believed
// blindly: what it is wrong about breaks a key (a number of the feed or of the
// postings) or the version of an order or a balance, and then everything is read;
// and a refusal counts only for what was read.
type memo struct {
	head      head
	headKnown bool
	young     map[order.ID]*order.Order
	old       map[order.ID]*order.Order
	balances  map[ledger.Key]kept // but for those of single orders
	logs      map[string]int64    // where the logs of integrators end
	used      bool                // by the batch at work
	distrust  int                 // batches to go without remembering
}

// kept is a balance as it was written last.
type kept struct {
	balance ledger.Balance
	version int64
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
	m.keep(t)
	if m.logs == nil || len(m.logs) >= memoLogs {
		m.logs = make(map[string]int64, len(t.logs))
	}
	maps.Copy(m.logs, t.logs)
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

// keep remembers the balances that a batch read or left behind.
func (m *memo) keep(t *tx) {
	if t.books == nil {
		return
	}
	for k, b := range t.books.Balances {
		if perOrder(k.Account) {
			continue
		}
		if m.balances == nil || len(m.balances) >= memoBalances {
			m.balances = map[ledger.Key]kept{}
		}
		version := t.versions[k]
		if t.changed[k] {
			version++
		}
		m.balances[k] = kept{b, version}
	}
}

func (m *memo) forget() {
	m.headKnown, m.young, m.old, m.balances, m.logs = false, nil, nil, nil, nil
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
