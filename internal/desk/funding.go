package desk

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/order"
)

// The ways in which an order is paid.
const (
	DepositAddress = "deposit_address" // to an address of its own
	ContractCall   = "contract_call"   // by a transaction that was made for whoever pays
)

// Fundings are the ways in which orders are paid on a chain, the usual one first.
func (c Chain) Fundings() []string {
	if c.Calls {
		return []string{DepositAddress, ContractCall}
	}
	return []string{DepositAddress}
}

// FundingOf is how an order is paid.
func FundingOf(o order.Order) string {
	if _, is := o.DepositTo.Reference(); is {
		return ContractCall
	}
	return DepositAddress
}

// payer is who will pay by a transaction that is made for him; nobody where the order
// gets an address of its own.
func (d *Desk) payer(a QuoteAsk, on chain.ID) (chain.Address, error) {
	told := d.ports.Atlas.Of(on)
	from, err := d.address("fromAddress", on, a.FromAddress)
	switch {
	case a.Funding != "" && a.Funding != DepositAddress && a.Funding != ContractCall,
		a.Funding == ContractCall && !told.Calls:
		return chain.Address{}, fault.New(fault.Unprocessable, "funding_mode_unsupported",
			"On %s orders are paid by sending to a deposit address; leave fundingMode out, or send %q.", told.Name, DepositAddress)
	case err != nil:
		return chain.Address{}, err
	case a.Funding != ContractCall:
		return chain.Address{}, nil
	case from.IsZero():
		return chain.Address{}, fault.New(fault.Invalid, "missing_field", "fromAddress is missing; say who will sign the transaction.").With("pointer", "/fromAddress")
	case from == d.cfg.Own[on]:
		return chain.Address{}, ownAddress("fromAddress")
	}
	return from, nil
}

// fundedAt is where an order is paid: an address of its own, or its reference. Whoever
// pays by a transaction of his own gets it back where he said no other place.
func (d *Desk) fundedAt(ctx context.Context, ask *order.Ask) (err error) {
	give := ask.Quote.Give.Chain
	if !ask.PayFrom.IsZero() {
		ask.DepositTo = chain.ReferenceTo(string(ask.ID)).In(ask.PayFrom.Family())
		return nil
	}
	if ask.DepositTo, err = d.ports.Codecs.DepositAddress(ctx, give, ask.ID); err != nil {
		return fmt.Errorf("deposit address of order %s: %w", ask.ID, err)
	}
	return nil
}

const (
	// fundingFresh is how long transactions are shown again before they are made anew:
	// some can land only for a minute.
	fundingFresh = 10 * time.Second
	// fundingKept bounds how many are remembered.
	fundingKept = 4096
)

// made are transactions that were made a moment ago, by their orders.
type made struct {
	mu  sync.Mutex
	all map[order.ID]funding
}

type funding struct {
	chain.Funding
	at time.Time
}

// Funding makes the transactions by which an order is paid; nil where it is paid
// otherwise, or no more. They are for its owner alone.
func (d *Desk) Funding(ctx context.Context, o order.Order, now time.Time) (*chain.Funding, error) {
	ref, is := o.DepositTo.Reference()
	if !is || o.State != order.Awaiting || !now.Before(o.ExpiresAt) {
		return nil, nil //nolint:nilnil // there is nothing to sign, which is no error
	}
	d.made.mu.Lock()
	known, fresh := d.made.all[o.ID]
	d.made.mu.Unlock()
	if fresh && now.Sub(known.at) < fundingFresh {
		return &known.Funding, nil
	}
	f, err := d.ports.Funder.Fund(ctx, chain.Due{From: o.PayFrom, Asset: o.Quote.Give, Amount: o.Quote.In, For: ref})
	if err != nil {
		return nil, fmt.Errorf("transaction that pays order %s: %w", o.ID, err)
	}
	d.made.mu.Lock()
	defer d.made.mu.Unlock()
	if d.made.all == nil || len(d.made.all) >= fundingKept {
		d.made.all = map[order.ID]funding{}
	}
	d.made.all[o.ID] = funding{f, now}
	return &f, nil
}
