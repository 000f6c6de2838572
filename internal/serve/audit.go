package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/treasury"
)

// Audited is what an audit of a configuration found.
type Audited struct {
	Findings []treasury.Finding
	// Left are the chains that were not compared, and why. Only simulated chains are
	// left out on purpose; any other was not to be reached, which proves nothing.
	Left []Left
	// Books is what is wrong with the books in themselves; nil if nothing is.
	Books error
}

// Left is a chain that was not compared.
type Left struct {
	Chain     chain.ID
	Why       string
	Simulated bool
}

// Unsound says what was found that nobody can explain, or could not be compared; nil if
// everything is where it should be.
func (a Audited) Unsound() error {
	errs := []error{a.Books}
	for _, f := range a.Findings {
		if why := f.Missing(); why != "" {
			errs = append(errs, fmt.Errorf("%s: %s", f.Chain, why))
		}
		if why := f.Surplus(); why != "" {
			errs = append(errs, fmt.Errorf("%s: %s", f.Chain, why))
		}
	}
	for _, l := range a.Left {
		if !l.Simulated {
			errs = append(errs, fmt.Errorf("%s was not compared: %s", l.Chain, l.Why))
		}
	}
	return errors.Join(errs...)
}

// Audit compares the books of a configuration with its chains, beside a service that
// runs or without one. With halt it stops every chain on which something is missing. It
// asks for the keys' addresses as the service does.
func Audit(ctx context.Context, c config.Config, halt bool, o Options) (out Audited, err error) {
	now := time.Now().UTC()
	s := &Service{}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.db, err = store.Open(ctx, store.Config{URL: c.Database.URL}); err != nil {
		return out, err
	}
	all, err := s.chains(ctx, c, o)
	if err != nil {
		return out, err
	}
	out.Books = s.db.Audit(ctx)
	for i, one := range all {
		if c.Chains[i].Kind == config.Sim {
			out.Left = append(out.Left, Left{one.ID, "it is simulated inside the service, which compares it itself", true})
			continue
		}
		assets := make([]chain.Asset, len(one.Assets))
		for i, a := range one.Assets {
			assets[i] = a.Asset
		}
		a, err := treasury.NewAuditor(order.HotWallet, s.db, treasury.Audited{ID: one.ID, Assets: assets, View: one.View})
		if err != nil {
			return out, err
		}
		found, err := a.Audit(ctx)
		if err != nil {
			out.Left = append(out.Left, Left{Chain: one.ID, Why: err.Error()})
		}
		out.Findings = append(out.Findings, found...)
		for _, f := range found {
			if !halt {
				break
			}
			if err := a.Halt(ctx, f, now); err != nil && !errors.Is(err, treasury.ErrMissing) {
				return out, err
			}
		}
	}
	return out, nil
}

// Holding is what the books have of an asset.
type Holding struct {
	Asset chain.Asset
	Hot   ledger.Balance // in the wallet that pays
	Lying ledger.Balance // on deposit addresses
	// Failed is how much of that a transfer did not bring home, and Until when all of it
	// is tried again.
	Failed money.Amount
	Until  time.Time
	Short  bool // the wallet has less than the configuration asks for, and nothing of it is sold
}

// Holdings are what the books have of every asset of a configuration.
func Holdings(ctx context.Context, c config.Config) (all []Holding, err error) {
	db, err := store.Open(ctx, store.Config{URL: c.Database.URL})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, one := range c.Chains {
		for _, a := range one.Assets {
			h := Holding{Asset: a}
			if h.Hot, err = db.Balance(ctx, ledger.Key{Account: ledger.Hot(a.Chain), Asset: a}); err != nil {
				return nil, err
			}
			if h.Lying, err = db.Balance(ctx, ledger.Key{Account: ledger.Deposits(a.Chain), Asset: a}); err != nil {
				return nil, err
			}
			h.Short = h.Hot.Free().Less(c.Treasury.Minimums[a])
			if err := h.failed(ctx, db, time.Now().UTC()); err != nil {
				return nil, err
			}
			all = append(all, h)
		}
	}
	return all, nil
}

// failed finds what waits because a transfer did not bring it home.
func (h *Holding) failed(ctx context.Context, db *store.DB, now time.Time) error {
	const most = 10_000 // the largest; nobody reads on after that
	found, err := db.Unswept(ctx, h.Asset, most, now.Add(treasury.Pause))
	if err != nil {
		return err
	}
	for _, l := range found {
		if !l.After.After(now) {
			continue
		}
		if h.Failed, err = h.Failed.Add(l.Amount); err != nil {
			return err
		}
		if l.After.After(h.Until) {
			h.Until = l.After
		}
	}
	return nil
}
