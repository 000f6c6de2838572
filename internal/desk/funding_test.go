package desk

import (
	"context"
	"errors"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// maker counts what it was asked for.
type maker struct {
	dues []chain.Due
	err  error
}

func (m *maker) Fund(_ context.Context, due chain.Due) (chain.Funding, error) {
	m.dues = append(m.dues, due)
	return chain.Funding{Pay: chain.Request{ValidTo: uint64(len(m.dues))}}, m.err
}

func TestTransactionsAreMadeForOrdersThatWaitForThem(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	payer := chain.CanonicalAddress(chain.EVM, "0xab")
	o := order.Order{
		ID: "ord_1", State: order.Awaiting, ExpiresAt: now.Add(time.Hour), PayFrom: payer,
		DepositTo: chain.ReferenceTo("ord_1").In(chain.EVM), Quote: quote.Quote{Give: chain.ID("eip155:1").Native(), In: money.FromUint64(5)},
	}
	m := &maker{}
	d := &Desk{ports: Ports{Funder: m}}
	for _, step := range []struct {
		name string
		at   time.Time
		want uint64 // which one is shown; zero is none
		like func(o *order.Order)
	}{
		{"first", now, 1, nil},
		{"again at once", now.Add(fundingFresh - 1), 1, nil},
		{"when it is old", now.Add(fundingFresh), 2, nil},
		{"another order", now, 3, func(o *order.Order) { o.ID = "ord_2" }},
		{"one that is paid to an address", now, 0, func(o *order.Order) { o.DepositTo = chain.CanonicalAddress(chain.EVM, "0xcd") }},
		{"one that is paid", now, 0, func(o *order.Order) { o.State = order.Confirming }},
		{"one that is too late", now.Add(time.Hour), 0, nil},
	} {
		one := o
		if step.like != nil {
			step.like(&one)
		}
		f, err := d.Funding(t.Context(), one, step.at)
		if err != nil || (f != nil) != (step.want > 0) || (f != nil && f.Pay.ValidTo != step.want) {
			t.Errorf("%s: got %v, %v", step.name, f, err)
		}
	}
	if want := (chain.Due{From: payer, Asset: o.Quote.Give, Amount: o.Quote.In, For: chain.ReferenceTo("ord_1")}); m.dues[0] != want {
		t.Errorf("asked for %v", m.dues[0])
	}
	m.err = errors.New("no node answers")
	if f, err := d.Funding(t.Context(), o, now.Add(time.Minute)); err == nil || f != nil {
		t.Errorf("without nodes there is %v", f)
	}
	for i := range fundingKept + 10 { // what is remembered has a bound
		m.err, o.ID = nil, order.ID(time.Duration(i).String())
		if _, err := d.Funding(t.Context(), o, now); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.made.all) > fundingKept {
		t.Errorf("%d are remembered", len(d.made.all))
	}
}
