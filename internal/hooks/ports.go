package hooks

import (
	"context"
	"errors"
	"time"

	"ferry/internal/feed"
	"ferry/internal/integrator"
	"ferry/internal/order"
	"ferry/internal/secret"
)

// What a store says.
var (
	// ErrNone: the integrator has no such endpoint.
	ErrNone = errors.New("hooks: no such endpoint")
	// ErrTooMany: the integrator has as many as it may have.
	ErrTooMany = errors.New("hooks: too many endpoints")
	// ErrMoved: the cursor is not where it was when the log was read.
	ErrMoved = errors.New("hooks: the cursor has moved")
)

// ID names an endpoint.
type ID string

// Why an endpoint is off.
const (
	Gone    = "gone"    // it answered 410
	Failing = "failing" // it took nothing for days
	Removed = "removed" // its integrator removed it; nobody sees it any more
)

// Endpoint is where an integrator wants to be told. Times are zero where there is none.
type Endpoint struct {
	ID          ID
	Integrator  integrator.ID
	URL         string
	Events      []string // none is all
	Description string
	// Cursor is the last number of the log that was taken up.
	Cursor    int64
	NotBefore time.Time // when what is taken up may be sent first
	Secrets   Secrets
	CreatedAt time.Time
	Off       string // why nothing is sent; empty while it is
	// FailingSince is when the first of the tries failed since which none succeeded;
	// LastStatus and LastTrouble are what came of the last that failed.
	FailingSince time.Time
	LastStatus   int
	LastTrouble  Trouble
}

// Secrets sign, as they are kept: sealed. The old one does so until its time is over.
type Secrets struct {
	Now, Old string
	OldUntil time.Time
}

// State is how far a delivery is.
type State string

// The states of a delivery.
const (
	Due     State = "due"     // it is sent when its time comes
	Waiting State = "waiting" // for an earlier one of its order
	Done    State = "done"
	Failed  State = "failed" // given up
)

// Delivery is one event for one endpoint.
type Delivery struct {
	Endpoint ID
	Number   int64 // in the log of the integrator
	Order    order.ID
	Event    string
	State    State
	Tries    int64
	DueAt    time.Time
	TakenAt  time.Time
	FirstAt  time.Time // of its first try
	EndedAt  time.Time
	Status   int     // of the last try
	Trouble  Trouble // of the last try
}

// News is an entry of the log that an endpoint wants.
type News struct {
	Number int64
	Order  order.ID
	Event  string
}

// Take is a part of the log that is taken up for an endpoint: all after From up to To.
type Take struct {
	Endpoint ID
	From, To int64
	News     []News
}

// Outcome is what came of one try, or that it was given back untried.
type Outcome struct {
	Delivery          // as it was leased
	State       State // Done, Failed, or Due again at Next
	Next        time.Time
	Status      int
	Trouble     Trouble
	Off         string    // why the endpoint is switched off; empty leaves it
	OffIfBefore time.Time // it is switched off as failing if it does so since before
	Untried     bool      // nothing was sent: the try does not count
}

// Sight is an endpoint that may be sent to, and what there is for it.
type Sight struct {
	Endpoint
	Behind bool      // its log goes on after the cursor
	DueAt  time.Time // of the first delivery that is due; zero where there is none
}

// Store keeps endpoints and deliveries. Each method is one transaction.
type Store interface {
	// AddHook keeps a new endpoint with the cursor at the end of the log, or refuses with
	// ErrTooMany.
	AddHook(ctx context.Context, e Endpoint, most int) (Endpoint, error)
	// Hooks are those of an integrator, oldest first.
	Hooks(ctx context.Context, id integrator.ID) ([]Endpoint, error)
	Hook(ctx context.Context, whose integrator.ID, id ID) (Endpoint, error)
	RemoveHook(ctx context.Context, whose integrator.ID, id ID) error
	SetHookSecrets(ctx context.Context, id ID, s Secrets) error
	// RewindHook makes the endpoint begin anew after a number, and switches it on.
	RewindHook(ctx context.Context, id ID, after int64, now time.Time) error
	// HookDeliveries are the newest with a number below before, at most n.
	HookDeliveries(ctx context.Context, id ID, before int64, n int) ([]Delivery, error)

	// HookSights are all endpoints that are on and whose integrators are active.
	HookSights(ctx context.Context) ([]Sight, error)
	// TakeUpHook writes down what is to be sent and moves the cursor; ErrMoved if somebody
	// else did.
	TakeUpHook(ctx context.Context, t Take, now time.Time) error
	// LeaseHook takes the first that are due, at most n, for this process alone until a time.
	LeaseHook(ctx context.Context, id ID, now, until time.Time, n int) ([]Delivery, error)
	// SettleHook writes down what came of a try, unless it was leased anew meanwhile.
	SettleHook(ctx context.Context, o Outcome, now time.Time) error
	// TidyHooks forgets what ended before a time, and what was removed, in parts.
	TidyHooks(ctx context.Context, before time.Time, n int) error
}

// Log is the durable log of integrators.
type Log interface {
	IntegratorLog(ctx context.Context, id integrator.ID, after int64, n int) ([]feed.Entry, error)
	// Woken is closed when something was written after the call.
	Woken() <-chan struct{}
}

// Wording says how an entry of the log is told.
type Wording interface {
	// Name is what an event is called; Names are all there are.
	Name(e *feed.Entry) string
	Names() []string
	// Event is the body of an event and its id, the same whenever it is asked for.
	Event(e *feed.Entry) (id string, body []byte, err error)
	// Test is an event that tells nothing.
	Test(id ID, now time.Time) (event string, body []byte, err error)
}

// Message is one post.
type Message struct {
	URL     string
	ID      string // of the event: the same however often it is posted
	At      time.Time
	Body    []byte
	Secrets []secret.Text
}

// Trouble is why a post was not taken; empty where it was.
type Trouble string

// The troubles.
const (
	BadStatus  Trouble = "status"     // it answered, and not with 2xx
	TimedOut   Trouble = "timeout"    // it did not answer in time
	Forbidden  Trouble = "forbidden"  // its address is in a network that nothing is sent to
	NoName     Trouble = "dns"        // its name has no address
	BadTLS     Trouble = "tls"        // it could not show that it is who it should be
	NoAnswer   Trouble = "connection" // it could not be reached, or hung up
	Unreadable Trouble = "event"      // the event could not be made
)

// Poster posts messages.
type Poster interface {
	// Post sends a message once and says what came of it. It keeps to the context's time.
	Post(ctx context.Context, m Message) (status int, t Trouble)
}
