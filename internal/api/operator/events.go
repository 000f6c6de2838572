package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/fault"
	"ferry/internal/feed"
)

// Event is a change of an order as operators see it, one line of a stream.
type Event struct {
	Type string `json:"type"` // event
	// Seq is the number in the log of everything, by which a stream goes on.
	Seq        int64     `json:"seq"`
	EventID    string    `json:"eventId"`
	Event      string    `json:"event"`
	OccurredAt wire.Time `json:"occurredAt"`
	// Integrator is whose order it is, and IntegratorSeq the number in its own log.
	Integrator    *string          `json:"integratorId"`
	IntegratorSeq *int64           `json:"integratorSeq"`
	FeeTx         *string          `json:"feePayoutTxHash"`
	Data          wire.OrderChange `json:"data"`
}

// Heartbeat is a sign of life: everything up to Seq that was asked for has been told.
type Heartbeat struct {
	Type string    `json:"type"` // heartbeat
	Seq  int64     `json:"seq"`
	At   wire.Time `json:"at"`
	// Finished says of the one order that is followed that it is at its end.
	Finished bool `json:"finished"`
}

// Of streams. A reader that was cut because it is slow goes on from its last number when
// it comes back.
const (
	usualBeat     = 15 * time.Second
	usualPatience = 20 * time.Second
	mostStreams   = 64
)

var (
	errNotRunning = fault.New(fault.Unprocessable, "service_not_running",
		"Only a running service tells of events as they happen; ask it with --operator-url and --operator-token-file.")
	errManyStreams = fault.New(fault.Exhausted, "too_many_streams", "There are %d streams open already; end some first.", mostStreams)
)

// streaming is an answer that goes on.
type streaming func(w http.ResponseWriter, r *http.Request)

// followEvents answers with the log from where somebody asks on, and with what follows,
// until they leave.
func followEvents(c *call) (any, error) {
	values, err := query(c.Request, "after", "integrator", "last", "order")
	if err != nil {
		return nil, err
	}
	w, err := wantedOf(values)
	if err != nil {
		return nil, err
	}
	if c.door.events == nil {
		return nil, errNotRunning
	}
	if c.door.streams.Add(1) > mostStreams {
		c.door.streams.Add(-1)
		return nil, errManyStreams
	}
	at, err := c.door.events.open(c.Context(), w, c.office)
	if err != nil {
		c.door.streams.Add(-1)
		return nil, err
	}
	return streaming(func(w http.ResponseWriter, r *http.Request) {
		defer c.door.streams.Add(-1)
		s := &stream{events: c.door.events, at: at, out: w, flow: http.NewResponseController(w), log: c.door.log}
		s.run(r.Context())
	}), nil
}

// stream is one that is being told.
type stream struct {
	events *Events
	at     *cursor
	out    http.ResponseWriter
	flow   *http.ResponseController
	log    *slog.Logger
}

// bell rings at most once until it is heard.
type bell chan struct{}

// Heard implements feed.Listener. What there is to tell is read from the log, so that
// nothing is kept for a slow reader.
func (b bell) Heard(*feed.Entry) {
	select {
	case b <- struct{}{}:
	default:
	}
}

// run tells until the reader leaves or the service ends.
func (s *stream) run(ctx context.Context) {
	rang := make(bell, 1)
	_, leave := s.events.Hub.Listen(s.at.topic, rang) // before the first look: nothing falls between
	defer leave()
	s.out.Header().Set("Content-Type", "application/x-ndjson")
	// The server's bounds are for requests that end.
	_ = s.flow.SetReadDeadline(time.Time{})
	tick := time.NewTicker(cmp.Or(s.events.Beat, usualBeat))
	defer tick.Stop()
	due, ended := true, false
	for {
		if err := s.catchUp(ctx); err != nil {
			s.failed(ctx, err)
			return
		}
		if due || s.at.finished != ended {
			if due, ended = false, s.at.finished; s.say(Heartbeat{Type: "heartbeat", Seq: s.at.seq, At: wire.Time{Time: time.Now()}, Finished: ended}) != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.events.Stop:
			s.goodbye()
			return
		case <-rang:
		case <-tick.C:
			due = true
		}
	}
}

// catchUp tells what the log has.
func (s *stream) catchUp(ctx context.Context) error {
	for {
		page, err := s.at.next(ctx)
		if err != nil {
			return err
		}
		for i := range page {
			if err := s.say(s.event(&page[i])); err != nil {
				return err
			}
			s.at.seq = page[i].Seq
		}
		if len(page) == 0 {
			return nil
		}
		select {
		case <-s.events.Stop: // a long log is not told to its end first
			return nil
		default:
		}
	}
}

func (s *stream) event(e *feed.Entry) Event {
	v := Event{
		Type: "event", Seq: e.Seq, EventID: wire.EventID(e.Order, e.Version), Event: wire.EventName(e.Event, e.From, e.State), OccurredAt: wire.Time{Time: e.At},
		Data: wire.OrderChange{OrderID: string(e.Order), From: string(e.From), To: string(e.State), Version: int(e.Version), Order: s.events.Show(e.Now, e.At)},
	}
	if e.Integrator != "" {
		whose, number := string(e.Integrator), e.Number
		v.Integrator, v.IntegratorSeq = &whose, &number
	}
	if tx := string(e.Now.Fee.Tx); tx != "" {
		v.FeeTx = &tx
	}
	return v
}

// say writes one line, and waits no longer for a slow reader than it may take.
func (s *stream) say(line any) error {
	text, err := wire.Bytes(line)
	if err != nil {
		return err
	}
	_ = s.flow.SetWriteDeadline(time.Now().Add(cmp.Or(s.events.Patience, usualPatience)))
	if _, err := s.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err := s.flow.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// failed ends a stream that can not be told on. Its reader comes back and goes on.
func (s *stream) failed(ctx context.Context, err error) {
	if errors.Is(err, errGone) || ctx.Err() != nil {
		return
	}
	s.log.ErrorContext(ctx, "a stream of events ended", "operator", nameOf(ctx), "after", s.at.seq, "error", err)
	s.goodbye()
}

// goodbye tells the reader when to come back, each at another time.
func (s *stream) goodbye() {
	const soonest, spread = 500, 1500
	_ = s.say(wire.Goodbye{Type: "goodbye", Reason: "deploy", ReconnectAfterMs: soonest + rand.IntN(spread)}) // who is gone hears nothing
}
