package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/secret"
)

// Config is how endpoints are told. What is zero is as Defaults has it.
type Config struct {
	// Loopback allows endpoints on this machine, without TLS: for development.
	Loopback bool
	// AtOnce is how many posts this process makes at a time, PerEndpoint to one endpoint.
	AtOnce, PerEndpoint int
	Timeout             time.Duration // of one post
	Lease               time.Duration // how long a post is this process's alone
	Every               time.Duration // how often it looks by itself
	// Waits are those between the tries of a post, the last of them again and again, until
	// GiveUp has passed since the first.
	Waits  []time.Duration
	GiveUp time.Duration
	// OffAfter is how long nothing may succeed until an endpoint is switched off.
	OffAfter time.Duration
	// Overlap is how long an old secret signs beside the new one.
	Overlap time.Duration
	// Kept is how long it is remembered what came of a delivery.
	Kept time.Duration
}

// Defaults are what most deployments want.
func Defaults() Config {
	return Config{
		AtOnce: 256, PerEndpoint: 8, Timeout: 10 * time.Second, Lease: 30 * time.Second, Every: time.Second,
		Waits:  []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour},
		GiveUp: 24 * time.Hour, OffAfter: 5 * 24 * time.Hour, Overlap: 24 * time.Hour, Kept: 30 * 24 * time.Hour,
	}
}

// filled is the configuration with defaults for what is zero.
func (c Config) filled() Config {
	d := Defaults()
	for into, usual := range map[*time.Duration]time.Duration{
		&c.Timeout: d.Timeout, &c.Lease: d.Lease, &c.Every: d.Every, &c.GiveUp: d.GiveUp, &c.OffAfter: d.OffAfter, &c.Overlap: d.Overlap, &c.Kept: d.Kept,
	} {
		if *into == 0 {
			*into = usual
		}
	}
	if c.AtOnce == 0 {
		c.AtOnce = d.AtOnce
	}
	if c.PerEndpoint == 0 {
		c.PerEndpoint = d.PerEndpoint
	}
	if len(c.Waits) == 0 {
		c.Waits = d.Waits
	}
	return c
}

// Check refuses what could post twice at once, or never.
func (c Config) Check() error {
	c = c.filled()
	switch {
	case c.Lease < c.Timeout+time.Second:
		return fmt.Errorf("hooks: a lease of %s is over before a post of %s is", c.Lease, c.Timeout)
	case c.AtOnce < 1 || c.PerEndpoint < 1 || c.Timeout < 0 || c.Every < 0 || c.GiveUp < 0 || c.Kept < 0 || slices.Min(c.Waits) <= 0:
		return errors.New("hooks: something is below nothing")
	}
	return nil
}

// Ports are what hooks work with.
type Ports struct {
	Store   Store
	Log     Log
	Wording Wording
	Poster  Poster
	Now     func() time.Time
	NewID   func(prefix string) string
	// Trouble hears of what is tried again.
	Trouble func(error)
}

// Limits of an integrator.
const (
	MaxEndpoints   = 10
	maxDescription = 200
	testsAtOnce    = 16
)

// All in a list of events is all of them.
const All = "*"

// Hooks keep endpoints and post to them. They are safe for use by any number of
// goroutines.
type Hooks struct {
	cfg Config
	Ports
	seal  *seal
	tests chan struct{}

	mu    sync.Mutex
	busy  map[ID]int // posts under way
	total int
	freed chan struct{}
}

// New makes hooks whose secrets are closed with one of the deployment.
func New(cfg Config, key secret.Text, p Ports) (*Hooks, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	s, err := newSeal(key)
	if err != nil {
		return nil, err
	}
	return &Hooks{
		cfg: cfg.filled(), Ports: p, seal: s, tests: make(chan struct{}, testsAtOnce), busy: map[ID]int{}, freed: make(chan struct{}, 1),
	}, nil
}

// Refusals.
var (
	errNone    = fault.New(fault.NotFound, "webhook_not_found", "No such webhook. See the list of webhooks.")
	errTooMany = fault.New(fault.Conflict, "too_many_webhooks", "There are %d webhooks, which is the most. Remove one first.", MaxEndpoints)
	errTests   = fault.New(fault.Unavailable, "service_unavailable", "Too many tests are running. Try again.").RetryAfter(time.Second)
)

// BadField is something wrong with one field of a request, named as callers name it.
type BadField struct{ Pointer, Message string }

func (b *BadField) Error() string { return b.Pointer + " " + b.Message }

func refusal(err error) error {
	switch {
	case errors.Is(err, ErrNone):
		return errNone.Because(err)
	case errors.Is(err, ErrTooMany):
		return errTooMany.Because(err)
	}
	return err
}

// Wish is an endpoint that somebody wants.
type Wish struct {
	URL, Description string
	Events           []string // none or All is all
}

// Create makes an endpoint, which is told of everything from now on. The secret is shown
// here and nowhere else.
func (h *Hooks) Create(ctx context.Context, whose integrator.ID, w Wish) (Endpoint, secret.Text, error) {
	if err := CheckURL(w.URL, h.cfg.Loopback); err != nil {
		return Endpoint{}, secret.Text{}, &BadField{"/url", err.Error()}
	}
	if len([]rune(w.Description)) > maxDescription {
		return Endpoint{}, secret.Text{}, &BadField{"/description", fmt.Sprintf("must have at most %d characters", maxDescription)}
	}
	events, err := h.chosen(w.Events)
	if err != nil {
		return Endpoint{}, secret.Text{}, err
	}
	e := Endpoint{
		ID: ID(h.NewID("whk_")), Integrator: whose, URL: w.URL, Events: events, Description: w.Description,
		CreatedAt: h.Now().UTC().Truncate(time.Microsecond),
	}
	s := newSecret()
	e.Secrets.Now = h.seal.close(e.ID, s)
	made, err := h.Store.AddHook(ctx, e, MaxEndpoints)
	if err != nil {
		return Endpoint{}, secret.Text{}, refusal(err)
	}
	return made, s, nil
}

// chosen are the events of a list, each once; none where it is all of them.
func (h *Hooks) chosen(names []string) (events []string, err error) {
	all := h.Wording.Names()
	for i, name := range names {
		switch {
		case name == All:
			return nil, nil
		case !slices.Contains(all, name):
			return nil, &BadField{fmt.Sprintf("/events/%d", i), `must be the name of an event or "*"`}
		case !slices.Contains(events, name):
			events = append(events, name)
		}
	}
	return events, nil
}

// List are the endpoints of an integrator.
func (h *Hooks) List(ctx context.Context, whose integrator.ID) ([]Endpoint, error) {
	return h.Store.Hooks(ctx, whose)
}

// find is an endpoint of an integrator. What cannot be an id is not looked for: a caller
// may send anything.
func (h *Hooks) find(ctx context.Context, whose integrator.ID, id ID) (Endpoint, error) {
	if !id.wellFormed() {
		return Endpoint{}, ErrNone
	}
	return h.Store.Hook(ctx, whose, id)
}

// wellFormed reports whether a text may be an id.
func (id ID) wellFormed() bool {
	return len(id) <= 64 && strings.Trim(string(id), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// Remove forgets an endpoint.
func (h *Hooks) Remove(ctx context.Context, whose integrator.ID, id ID) error {
	if !id.wellFormed() {
		return errNone
	}
	return refusal(h.Store.RemoveHook(ctx, whose, id))
}

// Rotate gives an endpoint a new secret, beside which the old one signs for a while. It
// may be called again where the answer was lost: then the secret that nobody saw is
// replaced, and the old one stays. End ends the old one at once and makes no new one.
func (h *Hooks) Rotate(ctx context.Context, whose integrator.ID, id ID, end bool) (Endpoint, secret.Text, error) {
	fail := func(err error) (Endpoint, secret.Text, error) { return Endpoint{}, secret.Text{}, refusal(err) }
	e, err := h.find(ctx, whose, id)
	if err != nil {
		return fail(err)
	}
	now := h.Now().UTC().Truncate(time.Microsecond)
	var shown secret.Text
	next := Secrets{Now: e.Secrets.Now}
	if !end {
		shown = newSecret()
		next = Secrets{Now: h.seal.close(id, shown), Old: e.Secrets.Now, OldUntil: now.Add(h.cfg.Overlap)}
		if e.rotating(now) {
			next.Old = e.Secrets.Old
		}
	}
	if err := h.Store.SetHookSecrets(ctx, id, next); err != nil {
		return fail(err)
	}
	e.Secrets = next
	return e, shown, nil
}

// rotating reports whether an old secret signs, too.
func (e *Endpoint) rotating(now time.Time) bool {
	return e.Secrets.Old != "" && now.Before(e.Secrets.OldUntil)
}

// OldUntil is until when an old secret signs, too; zero where none does.
func (e *Endpoint) OldUntil(now time.Time) time.Time {
	if !e.rotating(now) {
		return time.Time{}
	}
	return e.Secrets.OldUntil
}

// Replay sends everything after a number of the log again, and switches the endpoint on.
// A number that the log has not reached yet leaves nothing out.
func (h *Hooks) Replay(ctx context.Context, whose integrator.ID, id ID, after int64) (Endpoint, error) {
	e, err := h.find(ctx, whose, id)
	if err == nil {
		err = h.Store.RewindHook(ctx, id, min(after, e.Cursor), h.Now())
	}
	if err == nil {
		e, err = h.Store.Hook(ctx, whose, id)
	}
	h.wake()
	return e, refusal(err)
}

// Deliveries are the newest of an endpoint with a number below before, at most n.
func (h *Hooks) Deliveries(ctx context.Context, whose integrator.ID, id ID, before int64, n int) ([]Delivery, error) {
	if _, err := h.find(ctx, whose, id); err != nil {
		return nil, refusal(err)
	}
	return h.Store.HookDeliveries(ctx, id, before, n)
}

// Result is what came of a test.
type Result struct {
	Event   string // its id
	Status  int
	Trouble Trouble
}

// Test posts an event that tells nothing, once, and waits for what comes of it.
func (h *Hooks) Test(ctx context.Context, whose integrator.ID, id ID) (Result, error) {
	select {
	case h.tests <- struct{}{}:
		defer func() { <-h.tests }()
	default:
		return Result{}, errTests
	}
	e, err := h.find(ctx, whose, id)
	if err != nil {
		return Result{}, refusal(err)
	}
	now := h.Now()
	event, body, err := h.Wording.Test(id, now)
	if err != nil {
		return Result{}, err
	}
	secrets, err := h.secrets(&e, now)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Timeout)
	defer cancel()
	status, t := h.Poster.Post(ctx, Message{URL: e.URL, ID: event, At: now, Body: body, Secrets: secrets})
	return Result{Event: event, Status: status, Trouble: t}, nil
}

// secrets are those that sign now, the newest first.
func (h *Hooks) secrets(e *Endpoint, now time.Time) (all []secret.Text, err error) {
	sealed := []string{e.Secrets.Now}
	if e.rotating(now) {
		sealed = append(sealed, e.Secrets.Old)
	}
	for _, s := range sealed {
		open, err := h.seal.open(e.ID, s)
		if err != nil {
			return nil, fmt.Errorf("endpoint %s: %w", e.ID, err)
		}
		all = append(all, open)
	}
	return all, nil
}
