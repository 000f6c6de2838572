package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
)

// Bounds of one step and of waiting.
const (
	workPerStep = 64
	maxBackOff  = 5 * time.Minute
	haltWait    = 30 * time.Second
	capWait     = time.Minute
	homeWait    = 2 * time.Second
)

// Step carries out due work and tells orders whose time has come.
func (s *Settler) Step(ctx context.Context, now time.Time) error {
	return errors.Join(s.work(ctx, now), s.due(ctx, now))
}

// later is work that is not done yet through nobody's fault.
type later struct {
	after time.Duration
	why   string
}

func (l later) Error() string { return l.why }

func (s *Settler) work(ctx context.Context, now time.Time) error {
	taken, err := s.ports.Store.TakeWork(ctx, now, s.cfg.Lease, workPerStep)
	if err != nil {
		return fmt.Errorf("take work: %w", err)
	}
	var errs []error
	for _, w := range taken {
		if err := s.one(ctx, w, now); err != nil {
			errs = append(errs, fmt.Errorf("work %s: %w", w.ID, err))
		}
	}
	return errors.Join(errs...)
}

// one carries out a piece of work. Trouble puts it off, each time for longer; it
// is never dropped.
func (s *Settler) one(ctx context.Context, w Work, now time.Time) error {
	err := s.do(ctx, w, now)
	if err == nil {
		return s.ports.Store.DoneWork(ctx, w.ID)
	}
	var put later
	if errors.As(err, &put) {
		return s.ports.Store.LaterWork(ctx, w.ID, now.Add(put.after), put.why)
	}
	return errors.Join(err, s.ports.Store.LaterWork(ctx, w.ID, now.Add(backOff(w.Tries)), err.Error()))
}

// backOff is how long to wait after so many tries.
func backOff(tries int) time.Duration {
	if tries > 8 {
		return maxBackOff
	}
	return min(time.Second<<max(tries, 0), maxBackOff)
}

func (s *Settler) do(ctx context.Context, w Work, now time.Time) error {
	if w.Closed != nil {
		return s.closed(ctx, w.Order, *w.Closed, now)
	}
	switch e := w.Effect.(type) {
	case order.Wish:
		return s.wish(ctx, w.Order, e, now)
	case order.Price:
		return s.price(ctx, w, e, now)
	case order.RunStep:
		return s.step(ctx, w.Order, e, now)
	case order.LookBridge:
		return s.look(ctx, w.Order, e, now)
	}
	return fmt.Errorf("order %s: nobody can do %T", w.Order, w.Effect)
}

// Event is what the end of a transfer is for its order.
func (c Closed) Event(id order.ID) (order.Event, error) {
	r := c.Result
	if c.Was != nil {
		return order.CostCorrected{Transfer: string(c.Transfer), Tx: r.Tx, Block: r.Block.Hash, Was: *c.Was, Now: r.Cost}, nil
	}
	return id.Outcome(string(c.Transfer), r.Fate == chain.Final, r.Why, order.Landed{Tx: r.Tx, Cost: r.Cost})
}

// closed tells an order how one of its transfers ended.
func (s *Settler) closed(ctx context.Context, id order.ID, c Closed, now time.Time) error {
	ev, err := c.Event(id)
	if err != nil {
		return err
	}
	_, err = s.Tell(ctx, id, ev, now)
	return err
}

// wish hands a transfer over to be sent, if the brake lets it.
func (s *Settler) wish(ctx context.Context, id order.ID, e order.Wish, now time.Time) error {
	why, err := s.ports.Store.Halted(ctx, e.Call.Chain)
	if err != nil {
		return fmt.Errorf("halt of %s: %w", e.Call.Chain, err)
	}
	if why != "" {
		return later{haltWait, "chain is halted: " + why}
	}
	worth, err := s.ports.Rates.USD(ctx, e.Call.Asset, e.Call.Amount)
	if err != nil {
		return fmt.Errorf("worth of %s: %w", e.ID, err)
	}
	if worth > s.cfg.PerPayment {
		return later{maxBackOff, fmt.Sprintf("worth %s dollars, above the cap of %s for one payment: an operator must look", worth, s.cfg.PerPayment)}
	}
	cost, err := s.cost(ctx, e.Call)
	if errors.Is(err, send.ErrRefused) {
		// Only the sender may say that a wish is dead: another worker may have
		// wished it when the chain still took it.
		cost, err = money.FromUint64(1), nil
	}
	if err != nil {
		return err
	}
	budget, err := cost.MulDiv(money.FromUint64(s.cfg.FeeFactor), money.FromUint64(1), money.Up)
	if err != nil {
		return err
	}
	t := send.Transfer{
		ID: send.ID(e.ID), Order: string(id), Call: e.Call, USD: worth, MaxFee: budget,
		Deadline: now.Add(s.cfg.Hurry), WishedAt: now,
	}
	if e.For == order.ForPayout || e.For == order.ForStep {
		t.GiveUp = now.Add(s.cfg.GiveUp)
	}
	err = s.ports.Store.Wish(ctx, t, send.Cap{PerHour: s.cfg.PerHour}, now)
	if errors.Is(err, send.ErrCapped) {
		return later{capWait, err.Error()}
	}
	return err
}

func (s *Settler) cost(ctx context.Context, c chain.Call) (money.Amount, error) {
	coster, ok := s.ports.Costs[c.Chain]
	if !ok {
		return money.Amount{}, fmt.Errorf("chain %s is not served here", c.Chain)
	}
	n, err := coster.Cost(ctx, c)
	if err != nil {
		return money.Amount{}, fmt.Errorf("cost on %s: %w", c.Chain, err)
	}
	return n, nil
}

// price finds out whether a transfer is worth what it costs, in its own asset.
// One that is not is priced again for a while: fees fall too.
func (s *Settler) price(ctx context.Context, w Work, e order.Price, now time.Time) error {
	native, err := s.cost(ctx, e.Call)
	if errors.Is(err, send.ErrRefused) { // too little to be sent at all
		return s.priced(ctx, w.Order, e, e.Call.Amount, false, now)
	}
	if err != nil {
		return err
	}
	cost, err := s.ports.Rates.Convert(ctx, native, e.Call.Chain.Native(), e.Call.Asset, money.Up)
	if err != nil {
		return fmt.Errorf("cost of %s in %s: %w", e.ID, e.Call.Asset, err)
	}
	worth := cost.Less(e.Call.Amount)
	if !worth && w.Tries < s.cfg.PriceTries {
		return later{s.cfg.PriceWait, fmt.Sprintf("%s would cost %s to send", e.Call.Amount, cost)}
	}
	return s.priced(ctx, w.Order, e, cost, worth, now)
}

// priced tells an order what one of its transfers would cost.
func (s *Settler) priced(ctx context.Context, id order.ID, e order.Price, cost money.Amount, worth bool, now time.Time) error {
	ev, err := e.Priced(cost, worth)
	if err != nil {
		return err
	}
	_, err = s.Tell(ctx, id, ev, now)
	var turn *order.OutOfTurn
	if errors.As(err, &turn) {
		return nil // the order went another way while this waited
	}
	return funded(e.Call.Asset, err)
}
