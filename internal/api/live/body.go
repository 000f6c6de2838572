package live

import (
	"sync"

	"ferry/internal/access"
	"ferry/internal/api/wire"
	"ferry/internal/feed"
)

// view says for whom an event is written.
type view uint8

const (
	forOwner      view = iota // of the order or the session
	forIntegrator             // without what is the end user's
)

// bodies keep the events that were written last, so that one which many hear is written
// once: everything but how it begins.
type bodies struct {
	mu   sync.Mutex
	kept [8]body
	next int
}

type body struct {
	seq, number int64
	view        view
	right       access.Right
	text        []byte
}

// opening is how an event begins before what is everybody's: see headOf.
const opening = `{"type":"event","subscriptionId":"",`

func (b *bodies) of(show Show, e *feed.Entry, v view, right access.Right, number int64) []byte {
	want := body{seq: e.Seq, number: number, view: v, right: right}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.kept {
		k := &b.kept[i]
		if k.seq == want.seq && k.number == want.number && k.view == want.view && k.right == want.right && k.text != nil {
			return k.text
		}
	}
	want.text = write(show, e, v, right, number)
	b.kept[b.next%len(b.kept)] = want
	b.next++
	return want.text
}

func write(show Show, e *feed.Entry, v view, right access.Right, number int64) []byte {
	if v == forIntegrator {
		event := wire.IntegratorEventOf(e, show.Attributed(e.Now))
		event.Seq = int(number)
		text := encode(event)
		return text[len(`{"type":"event",`):] // it has no subscriptionId
	}
	text := encode(wire.OrderEvent{
		Type: "event", Seq: int(number), EventID: wire.EventID(e.Order, e.Version), Event: wire.EventName(e.Event, e.From, e.State),
		OccurredAt: wire.Time{Time: e.At},
		Data: wire.OrderChange{
			OrderID: string(e.Order), From: string(e.From), To: string(e.State), Version: int(e.Version), Order: show.Order(e.Now, right, e.At),
		},
	})
	return text[len(opening):]
}
