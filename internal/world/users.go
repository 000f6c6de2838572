package world

import (
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// client is a user with one order.
type client struct {
	id   order.ID
	kind string
	give chain.Asset
	in   money.Amount
	to   chain.Address // where to pay
}

// habits are the ways of paying, by how often they are met.
var habits = []struct {
	name   string
	weight int
	do     func(*world, *client)
}{
	{"right", 40, (*world).paysRight},
	{"under", 6, func(w *world, c *client) { w.paysShare(c, 40+w.r.IntN(50)) }},
	{"over", 5, func(w *world, c *client) { w.paysShare(c, 102+w.r.IntN(150)) }},
	{"far over", 2, func(w *world, c *client) { w.paysShare(c, 20_000) }},
	{"twice", 6, (*world).paysTwice},
	{"split", 5, (*world).paysSplit},
	{"late", 5, (*world).paysLate},
	{"wrong asset", 5, (*world).paysWrong},
	{"replaced", 6, (*world).replaces},
	{"never", 5, func(*world, *client) {}},
	{"cancels", 3, (*world).cancels},
	{"asks for a refund", 4, (*world).asksRefund},
	{"late address", 4, (*world).addressLate},
	{"requote", 4, (*world).requotes},
	{"recipient rejects", 4, (*world).recipientRejects},
	{"noise", 3, (*world).noisy},
	{"stopped", 2, (*world).stopped},
}

func (w *world) habit() (string, func(*world, *client)) {
	total := 0
	for _, h := range habits {
		total += h.weight
	}
	pick := w.r.IntN(total)
	for _, h := range habits {
		if pick -= h.weight; pick < 0 {
			return h.name, h.do
		}
	}
	return habits[0].name, habits[0].do
}

// newClient makes an order and lets its owner go on by habit. One who is refused,
// or who gets no answer, tries something else some time later.
func (w *world) newClient(i, try int) {
	give := w.h.Assets[w.r.IntN(len(w.h.Assets))]
	get := w.h.Assets[w.r.IntN(len(w.h.Assets))]
	for get == give {
		get = w.h.Assets[w.r.IntN(len(w.h.Assets))]
	}
	name, do := w.habit()
	c := &client{id: order.ID(fmt.Sprintf("ord_%05d_%d", i, try)), kind: name, give: give, in: w.amount(give)}
	q, err := w.h.Terms(quote.ID("quo_"+string(c.id)), give, get, c.in, w.now)
	if err != nil {
		w.broken = fmt.Errorf("terms of %s: %w", c.id, err)
		return
	}
	w.season(&q)
	refused, err := w.through(&q)
	if err != nil {
		w.broken = fmt.Errorf("route of %s: %w", c.id, err)
		return
	}
	if refused != "" {
		w.count("refused_" + refused)
		w.appoint(w.minutes(5), func() { w.newClient(i, try+1) })
		return
	}
	var back chain.Address
	if !w.chance(3) && name != "late address" {
		back = w.h.Net(give.Chain).User("back-" + string(c.id))
	}
	recipient := w.h.Net(get.Chain).User("recipient-" + string(c.id))
	if name == "recipient rejects" {
		w.h.Net(get.Chain).Reject(sim.Match{To: recipient})
	}
	ask := w.h.Ask(c.id, q, recipient, back)
	w.mark(&ask)
	c.to = ask.DepositTo
	_, err = w.desk.Settler.Create(w.ctx, ask, w.now)
	var f *fault.Error
	switch {
	case err == nil:
		w.clients = append(w.clients, c)
		do(w, c)
		return
	case errors.As(err, &f): // paused, or too little left
		w.count("refused_" + f.Code)
	case errors.Is(err, errDisk) || errors.Is(err, errLost):
		// Nobody pays to an address he never saw; the order may be there all the same.
		w.unsure = append(w.unsure, c.id)
	default:
		w.broken = fmt.Errorf("create %s: %w", c.id, err)
		return
	}
	w.appoint(w.minutes(5), func() { w.newClient(i, try+1) })
}

// season gives a quote its own rules and, often, an integrator.
func (w *world) season(q *quote.Quote) {
	pick := func(as ...quote.Action) quote.Action { return as[w.r.IntN(len(as))] }
	q.Tolerance.UnderAction = pick(quote.Hold, quote.Refund)
	q.Tolerance.OverAction = pick(quote.ProcessAll, quote.Hold, quote.Refund)
	q.Tolerance.WrongAsset = pick(quote.Hold, quote.Refund)
	if w.chance(2) {
		q.Integrator = integrator.ID(fmt.Sprint("int_", 1+w.r.IntN(2)))
	}
	if q.Integrator != "" && !w.chance(4) {
		q.Fee = &quote.Fee{Percent: money.Percent(1 + w.r.IntN(int(5*money.Whole/100))), PayTo: w.h.Net(q.Give.Chain).User("integrator")}
	}
}

// mark notes on an order what people note: most want points, some keep their orders to
// themselves, and some integrators say for whom they ask.
func (w *world) mark(a *order.Ask) {
	o := &a.Origin
	if w.chance(5) {
		o.Award.Season = "season-2"
	}
	switch {
	case w.chance(4):
		o.PointsTo, o.Award = "", order.Award{}
	case w.chance(2): // somebody who comes again
		o.PointsTo = fmt.Sprint("regular-", w.r.IntN(5))
	}
	o.Private = w.chance(5)
	if a.Quote.Integrator != "" && w.chance(2) {
		o.Client = fmt.Sprint("client-", w.r.IntN(9))
	}
}

// amount is some dollars' worth of an asset: often little, sometimes much.
func (w *world) amount(a chain.Asset) money.Amount {
	dollars := []uint64{20 + w.r.Uint64N(900), 20 + w.r.Uint64N(900), 2_000 + w.r.Uint64N(15_000), 30_000 + w.r.Uint64N(200_000)}[w.r.IntN(4)]
	n, err := money.FromUint64(dollars).MulDiv(money.FromUint64(1_000_000_000_000), w.h.Rates[a], money.Up)
	if err != nil {
		return money.FromUint64(1)
	}
	return n
}

func (w *world) minutes(n int) time.Time { return w.soon(time.Duration(n) * time.Minute) }

func share(a money.Amount, percent int) money.Amount {
	v, err := a.MulDiv(money.FromUint64(uint64(percent)), money.FromUint64(100), money.Down)
	if err != nil {
		return a
	}
	return v
}

// pay sends a payment; what a chain refuses is not sent.
func (w *world) pay(c *client, outs ...sim.Out) chain.TxID {
	tx, err := w.h.Net(c.give.Chain).Send(sim.Payment{From: "payer-" + string(c.id), Outs: outs, Contract: w.chance(5)})
	if err != nil {
		return ""
	}
	return tx
}

func (c *client) out(n money.Amount) sim.Out { return sim.Out{To: c.to, Asset: c.give, Amount: n} }

func (w *world) paysShare(c *client, percent int) {
	w.appoint(w.minutes(10), func() { w.pay(c, c.out(share(c.in, percent))) })
}

func (w *world) paysRight(c *client) { w.paysShare(c, 100) }

func (w *world) paysTwice(c *client) {
	w.paysShare(c, 100)
	w.paysShare(c, 100)
	w.asksLater(c)
}

func (w *world) paysSplit(c *client) {
	if w.chance(2) {
		w.appoint(w.minutes(10), func() { w.pay(c, c.out(share(c.in, 60)), c.out(share(c.in, 40))) })
		return
	}
	w.paysShare(c, 60)
	w.paysShare(c, 40)
}

func (w *world) paysLate(c *client) {
	w.appoint(w.now.Add(31*time.Minute+time.Duration(w.r.IntN(90))*time.Minute), func() { w.pay(c, c.out(c.in)) })
	w.asksLater(c)
}

func (w *world) paysWrong(c *client) {
	other := c.give
	for _, a := range w.h.Assets {
		if a.Chain == c.give.Chain && a != c.give {
			other = a
		}
	}
	w.appoint(w.minutes(10), func() { w.pay(c, sim.Out{To: c.to, Asset: other, Amount: w.amount(other)}) })
	if w.chance(2) {
		w.paysShare(c, 100)
	}
	w.asksLater(c)
}

// replaces pays and takes it back while it waits, and may pay again.
func (w *world) replaces(c *client) {
	w.appoint(w.minutes(10), func() {
		tx := w.pay(c, c.out(c.in))
		w.appoint(w.minutes(1), func() {
			var outs []sim.Out
			if w.chance(2) {
				outs = []sim.Out{c.out(share(c.in, 50))}
			}
			// A payment that is mined already cannot be replaced.
			_, _ = w.h.Net(c.give.Chain).Replace(tx, outs...)
		})
		if w.chance(2) {
			w.paysShare(c, 100)
		}
	})
}

// say tells an order something, as its owner does; one who gets no answer tries again.
func (w *world) say(c *client, ev order.Event) {
	_, err := w.desk.Settler.Tell(w.ctx, c.id, ev, w.now)
	if errors.Is(err, errDisk) || errors.Is(err, errLost) {
		w.appoint(w.minutes(2), func() { w.say(c, ev) })
	}
}

func (w *world) cancels(c *client) {
	w.appoint(w.minutes(20), func() { w.say(c, order.Cancelled{}) })
	if w.chance(2) {
		w.paysShare(c, 100)
	}
}

// asksLater asks for a refund some time later, perhaps too early or twice.
func (w *world) asksLater(c *client) {
	for i := range 2 {
		w.appoint(w.minutes(120), func() { w.say(c, order.RefundAsked{Request: fmt.Sprint("r", i)}) })
	}
}

func (w *world) asksRefund(c *client) {
	w.paysShare(c, 70)
	w.asksLater(c)
}

func (w *world) addressLate(c *client) {
	w.paysShare(c, 70)
	w.appoint(w.minutes(90), func() {
		w.say(c, order.RefundAddressGiven{To: w.h.Net(c.give.Chain).User("back-" + string(c.id))})
	})
	w.asksLater(c)
}

func (w *world) requotes(c *client) {
	w.paysShare(c, 70)
	for range 3 {
		w.appoint(w.minutes(60), func() { w.requote(c) })
	}
}

func (w *world) requote(c *client) {
	o, err := w.h.DB.Order(w.ctx, c.id)
	if err != nil || o.State != order.Held || o.InHand.Asset != c.give {
		return
	}
	q, err := w.h.Terms(quote.ID(fmt.Sprintf("quo_%s_%d", c.id, w.r.Uint32())), o.Quote.Give, o.Quote.Get, o.InHand.Amount, w.now)
	if err != nil {
		return
	}
	q.Integrator, q.Fee = o.Quote.Integrator, o.Quote.Fee
	if refused, err := w.through(&q); err != nil || refused != "" {
		return
	}
	w.say(c, order.RequoteOffered{Hold: o.Hold.Since})
	w.say(c, order.RequoteAccepted{Quote: q})
}

func (w *world) recipientRejects(c *client) {
	w.paysShare(c, 100)
	w.asksLater(c)
}

// noisy sends what must never be believed, and then pays.
func (w *world) noisy(c *client) {
	w.appoint(w.minutes(5), func() {
		net := w.h.Net(c.give.Chain)
		fake := chain.Asset{Chain: c.give.Chain, Ref: "fake"}
		if net.Shape() != sim.Coins {
			w.pay(c, sim.Out{To: c.to, Asset: fake, Amount: c.in})
			w.pay(c, sim.Out{To: c.to, Asset: c.give, Amount: c.in, Void: true})
			w.pay(c, c.out(money.Amount{}))
			_, _ = net.Send(sim.Payment{From: "payer-" + string(c.id), Outs: []sim.Out{c.out(c.in)}, Fail: true})
		}
	})
	w.paysShare(c, 100)
}

// stopped is an order that an operator stops and lets go on.
func (w *world) stopped(c *client) {
	w.appoint(w.minutes(5), func() { w.say(c, order.Stopped{Request: "s", Why: order.ScreeningHold}) })
	w.paysShare(c, 100)
	w.appoint(w.now.Add(20*time.Minute+time.Duration(w.r.IntN(60))*time.Minute), func() { w.say(c, order.Lifted{Request: "l"}) })
}
