package office

import (
	"context"
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/hooks"
	"ferry/internal/integrator"
)

// Office is the operators' counter. It is safe for use by any number of goroutines.
type Office struct {
	store  Store
	codecs Codecs
	sweeps Sweeper // nil where nobody brings deposits home
	prices Pricer  // nil where nobody judges prices
	now    func() time.Time
}

// New opens an office.
func New(st Store, codecs Codecs, now func() time.Time) *Office {
	return &Office{store: st, codecs: codecs, now: now}
}

// With is the same office with somebody who brings deposits home.
func (o *Office) With(s Sweeper) *Office {
	with := *o
	with.sweeps = s
	return &with
}

// WithPrices is the same office with somebody who judges prices.
func (o *Office) WithPrices(p Pricer) *Office {
	with := *o
	with.prices = p
	return &with
}

// clock is now as precisely as it is kept.
func (o *Office) clock() time.Time { return o.now().UTC().Truncate(time.Microsecond) }

// entry begins an entry of the log.
func (o *Office) entry(by, action, target string, before, after map[string]string) (Entry, error) {
	if err := integrator.CheckName("operator", by); err != nil {
		return Entry{}, refusal(err)
	}
	e := Entry{At: o.clock(), By: by, Action: action, Target: target}
	var errs [2]error
	e.Before, errs[0] = object(before)
	e.After, errs[1] = object(after)
	return e, errors.Join(errs[:]...)
}

// Create makes an integrator with the default limits, active and without keys.
func (o *Office) Create(ctx context.Context, name, by string) (integrator.Integrator, error) {
	i := integrator.Integrator{
		ID: integrator.ID(NewID("int_")), Name: name, Status: integrator.Active, Version: 1,
		CreatedAt: o.clock(), Limits: integrator.DefaultLimits, Window: integrator.DefaultWindow,
		Forwarding: integrator.Forwarding{Limits: integrator.DefaultClientLimits}, AttributionDays: integrator.DefaultAttributionDays,
	}
	i.UpdatedAt = i.CreatedAt
	if err := i.Check(); err != nil {
		return integrator.Integrator{}, refusal(err)
	}
	e, err := o.entry(by, CreatedIntegrator, string(i.ID), nil, fields(i))
	if err == nil {
		err = o.store.CreateIntegrator(ctx, i, e)
	}
	if err != nil {
		return integrator.Integrator{}, refusal(err)
	}
	return i, nil
}

// Show is one integrator.
func (o *Office) Show(ctx context.Context, id integrator.ID) (integrator.Integrator, error) {
	i, err := o.store.Integrator(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return integrator.Integrator{}, noIntegrator(id).Because(err)
	}
	return i, refusal(err)
}

// Webhooks are those of an integrator.
func (o *Office) Webhooks(ctx context.Context, id integrator.ID) ([]hooks.Endpoint, error) {
	if _, err := o.Show(ctx, id); err != nil {
		return nil, err
	}
	return o.store.Hooks(ctx, id)
}

// MaxPage is how many rows a list has at most.
const MaxPage = 500

// page keeps a list within its bounds.
func page(n int) (int, error) {
	if n < 1 || n > MaxPage {
		return 0, badField("limit", "must be from 1 to %d", MaxPage)
	}
	return n, nil
}

// List is at most n integrators with a higher id, in the order of their ids.
func (o *Office) List(ctx context.Context, after integrator.ID, n int) ([]integrator.Integrator, error) {
	n, err := page(n)
	if err != nil {
		return nil, err
	}
	return o.store.Integrators(ctx, after, n)
}

// Audit is at most n entries of the log after a number, oldest first.
func (o *Office) Audit(ctx context.Context, after int64, n int) ([]Entry, error) {
	n, err := page(n)
	if err != nil {
		return nil, err
	}
	return o.store.Log(ctx, after, n)
}

// VerifyAudit goes through the whole log and says how far it is sound; ErrBroken
// names the first entry that was changed.
func (o *Office) VerifyAudit(ctx context.Context) (Verdict, error) { return o.store.VerifyAudit(ctx) }

// Halts are the chains that are stopped.
func (o *Office) Halts(ctx context.Context) ([]Halt, error) { return o.store.Halts(ctx) }

// ResumeChain lets a halted chain go on.
func (o *Office) ResumeChain(ctx context.Context, id chain.ID, by string) error {
	halts, err := o.store.Halts(ctx)
	if err != nil {
		return err
	}
	for _, h := range halts {
		if h.Chain != id {
			continue
		}
		before := map[string]string{"why": h.Why, "since": h.At.Format(time.RFC3339Nano)}
		e, err := o.entry(by, ResumedChain, string(id), before, nil)
		if err != nil {
			return err
		}
		lifted, err := o.store.LiftHalt(ctx, id, e)
		if err != nil || lifted {
			return refusal(err)
		}
	}
	return noHalt(id)
}

// Queue are the oldest questions that wait for an operator, at most n.
func (o *Office) Queue(ctx context.Context, n int) ([]Question, error) {
	n, err := page(n)
	if err != nil {
		return nil, err
	}
	return o.store.Queue(ctx, n)
}

// changeTries is how often a change is made again that another came before.
const changeTries = 5

// Change changes what a patch names, all of it or nothing. A patch that changes
// nothing is no error and leaves no trace.
func (o *Office) Change(ctx context.Context, id integrator.ID, p Patch, by string) (integrator.Integrator, error) {
	for try := 1; ; try++ {
		i, err := o.changeOnce(ctx, id, p, by)
		if errors.Is(err, ErrChanged) && p.Version == 0 && try < changeTries {
			continue
		}
		return i, err
	}
}

func (o *Office) changeOnce(ctx context.Context, id integrator.ID, p Patch, by string) (integrator.Integrator, error) {
	was, err := o.Show(ctx, id)
	if err != nil {
		return integrator.Integrator{}, err
	}
	if p.Version != 0 && p.Version != was.Version {
		return integrator.Integrator{}, refusal(ErrChanged)
	}
	i, err := p.apply(was, o.codecs)
	if err == nil {
		err = i.Check()
	}
	if err != nil {
		return integrator.Integrator{}, refusal(err)
	}
	before, after := differing(fields(was), fields(i))
	if len(after) == 0 {
		return was, nil
	}
	action := ChangedIntegrator
	if i.Status != was.Status {
		action = map[integrator.Status]string{integrator.Suspended: SuspendedIntegrator, integrator.Active: ResumedIntegrator}[i.Status]
	}
	e, err := o.entry(by, action, string(id), before, after)
	if err != nil {
		return integrator.Integrator{}, err
	}
	i.UpdatedAt = e.At
	if err := o.store.ChangeIntegrator(ctx, i, e); err != nil {
		return integrator.Integrator{}, refusal(err)
	}
	i.Version++
	return i, nil
}

var errEmptyPatch = fault.New(fault.Invalid, "missing_field", "Nothing to change was named; name at least one field.")
