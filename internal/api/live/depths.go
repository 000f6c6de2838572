package live

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"ferry/internal/api/socket"
	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/order"
)

// deep are the followed orders that have a payment in sight. They are looked at when
// their chain has another block: once for everybody who follows them, and not at all
// while there are none.
type deep struct {
	mu     sync.Mutex
	orders map[order.ID]*waiting
	looks  int64
}

// waiting is one such order.
type waiting struct {
	o      *order.Order // the newest that somebody was told of
	subs   map[*sub]struct{}
	head   string // the block that its chain ended with when it was looked at; empty is look again
	looked int64
}

// deepPerBeat is how many orders are looked at at a time, the longest waiting first.
const deepPerBeat = 500

// join has a subscription told how deep the payments of an order are, soon.
func (d *deep) join(s *sub, o *order.Order) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.orders[o.ID]
	if w == nil {
		if d.orders == nil {
			d.orders = map[order.ID]*waiting{}
		}
		w = &waiting{o: o, subs: map[*sub]struct{}{}}
		d.orders[o.ID] = w
	}
	if o.Version > w.o.Version {
		w.o = o
	}
	w.subs[s], w.head = struct{}{}, ""
}

func (d *deep) leave(s *sub, id order.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.orders[id]
	if w == nil {
		return
	}
	if delete(w.subs, s); len(w.subs) == 0 {
		delete(d.orders, id)
	}
}

// chains are those that somebody waits for.
func (d *deep) chains() map[chain.ID]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all map[chain.ID]string
	for _, w := range d.orders {
		if all == nil {
			all = map[chain.ID]string{}
		}
		all[w.o.Quote.Give.Chain] = ""
	}
	return all
}

// look is an order that is looked at, and who is told.
type look struct {
	o    *order.Order
	subs []*sub
}

// due are the orders that were not looked at since their chain ended with its head.
func (d *deep) due(heads map[chain.ID]string) []look {
	d.mu.Lock()
	defer d.mu.Unlock()
	var late []*waiting
	for _, w := range d.orders {
		if w.head != heads[w.o.Quote.Give.Chain] {
			late = append(late, w)
		}
	}
	if len(late) > deepPerBeat {
		slices.SortFunc(late, func(a, b *waiting) int { return cmp.Compare(a.looked, b.looked) })
		late = late[:deepPerBeat]
	}
	d.looks++
	all := make([]look, len(late))
	for i, w := range late {
		w.head, w.looked = heads[w.o.Quote.Give.Chain], d.looks
		all[i] = look{o: w.o, subs: make([]*sub, 0, len(w.subs))}
		for s := range w.subs {
			all[i].subs = append(all[i].subs, s)
		}
	}
	return all
}

// again has an order looked at the next time, whatever its chain does.
func (d *deep) again(id order.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.orders[id]; w != nil {
		w.head = ""
	}
}

// tellDepths tells those who follow orders how deep payments are that may still vanish.
func (l *Live) tellDepths(ctx context.Context) {
	heads := l.deep.chains()
	for id := range heads {
		cursor, err := l.ports.Cursor(ctx, id)
		if err != nil {
			l.cfg.Log.WarnContext(ctx, "it could not be read how far a chain is for those who wait for it, will be tried again", "chain", id, "error", err)
			return
		}
		heads[id] = cursor.Hash
	}
	due := l.deep.due(heads)
	if len(due) == 0 {
		return
	}
	orders := make([]*order.Order, len(due))
	for i := range due {
		orders[i] = due[i].o
	}
	depths, err := l.ports.Desk.Depths(ctx, orders...)
	if err != nil {
		l.cfg.Log.WarnContext(ctx, "it could not be read how deep payments are for those who wait for them, will be tried again", "error", err)
	}
	now := time.Now()
	for _, one := range due {
		if err != nil || !one.tell(depths, now) {
			l.deep.again(one.o.ID)
		}
	}
}

// tell tells how deep the payments of an order are. It reports false if somebody could
// not be told yet.
func (one *look) tell(depths map[chain.DepositID]uint64, now time.Time) bool {
	data := wire.ConfirmationsOf(one.o, depths)
	told := ""
	for _, d := range data.Deposits {
		told += d.TxHash + " " + strconv.Itoa(d.Confirmations) + "\n"
	}
	var body []byte // written once, and only if it is news to somebody
	all := true
	for _, s := range one.subs {
		all = s.confirm(one.o.ID, told, func() []byte {
			if body == nil {
				body = encode(wire.ConfirmationsEvent{
					Type: "event", EventID: wire.EventIDOf("confirmations/" + string(one.o.ID) + "/" + strconv.FormatInt(now.UnixNano(), 10)),
					Event: "order.confirmations", OccurredAt: wire.Time{Time: now}, Data: data,
				})[len(opening):]
			}
			return body
		}) && all
	}
	return all
}

// confirm tells how deep the payments of an order are, if that is news. Whoever still
// reads what was missed is told afterwards.
func (s *sub) confirm(id order.ID, told string, body func() []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, minds := s.depths[id]
	if s.over || !minds || before == told {
		return true
	}
	if !s.live {
		return false
	}
	s.depths[id] = told
	s.conn.sock.Send(socket.Message{Head: s.head(), Body: body()}) // whoever is gone needs it no more
	return true
}

// minds is mind for whoever does not hold the lock.
func (s *sub) minds(o *order.Order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.mind(o)
	}
}

// mind notes whether an order that the subscription may see has a payment in sight. The
// lock is held.
func (s *sub) mind(o *order.Order) {
	if s.log.view != forOwner {
		return
	}
	_, known := s.depths[o.ID]
	switch {
	case len(o.InSight()) > 0:
		if s.depths == nil {
			s.depths = map[order.ID]string{}
		}
		if !known {
			s.depths[o.ID] = ""
		}
		s.conn.live.deep.join(s, o)
	case known:
		delete(s.depths, o.ID)
		s.conn.live.deep.leave(s, o.ID)
	}
}
