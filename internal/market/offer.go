package market

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Charge is a part of the price, in dollars.
type Charge struct {
	Kind string // network, service or integrator
	USD  money.USD
}

// The kinds of charges.
const (
	Network    = "network"
	Service    = "service"
	Integrator = "integrator"
)

// Warning is something that the caller should know of an offer.
type Warning struct {
	Code, Text string
	// Of a fee that is not charged:
	Percent                money.Percent
	AmountUSD, TransferUSD money.USD
}

// Offer is a quote with all that is shown of it. Quote.ID is empty until it is sealed.
type Offer struct {
	Quote         quote.Quote
	Give, Get     Asset
	Venue         string
	Side          Side
	Slippage      money.Percent // zero for a fixed rate
	MinOut        money.Amount  // the least that is paid before the offer no longer stands
	MaxFrom       money.Amount  // the most that is asked for
	GiveUSD       money.USD
	GetUSD        money.USD
	NetworkUSD    money.USD
	ServiceUSD    money.USD
	Earning       *Earning // the integrator's; nil where none applies
	Impact        money.Percent
	Takes         time.Duration
	Confirmations uint64
	CreatedAt     time.Time
	// Unpaid is a default fee that is not charged for want of a payout address.
	Unpaid money.Percent
	// To is who will get it, where that is known; it is not sealed: whoever accepts an
	// opened offer says again for whom.
	To chain.Address
	// PayFrom is who will pay by a transaction that is made for him; zero is that it is
	// paid to an address.
	PayFrom chain.Address
	// Dropped are venues that gave no route; they are not sealed.
	Dropped []Refusal
}

// draft is what an offer is made from.
type draft struct {
	Ask
	slippage  money.Percent
	give, get valued
	rule      share
	now       time.Time
}

// offer makes an offer of the best route.
func (m *Market) offer(d *draft, f *found) (Offer, error) {
	in, err := d.Amount, error(nil)
	if d.Side == To {
		if in, err = d.rule.least(f.route.In); err != nil {
			return Offer{}, tooMuch(err)
		}
	}
	least, err := d.rule.least(f.route.MinIn)
	if err != nil {
		return Offer{}, tooMuch(err)
	}
	fee, earning, err := d.rule.fee(in, &d.give)
	if err != nil {
		return Offer{}, fmt.Errorf("fee of %s: %w", d.Integrator, err)
	}
	life := m.cfg.Float
	if d.Mode == quote.Fixed {
		life = m.cfg.Fixed
	}
	worth := d.give.usd(in, money.Up)
	from, to := m.chains[d.Ask.Give.Chain], m.chains[d.Ask.Get.Chain]
	o := Offer{
		Quote: quote.Quote{
			Give: d.Ask.Give, Get: d.Ask.Get, In: in, Out: f.route.Out, MinIn: least, MaxIn: d.rule.most(f.route.MaxIn), Mode: d.Mode,
			Tolerance: m.cfg.Tolerance, Steps: f.route.Steps, Toll: f.route.Toll, Fee: fee, Integrator: d.Integrator, USD: worth, ExpiresAt: d.now.Add(life),
		},
		Give: d.give.Asset, Get: d.get.Asset, Venue: f.venue, Side: d.Side, Slippage: d.slippage, MinOut: f.route.Out, MaxFrom: in,
		GiveUSD: worth, GetUSD: d.get.usd(f.route.Out, money.Down),
		NetworkUSD: d.get.usd(f.route.Network, money.Up), ServiceUSD: d.get.usd(f.route.Service, money.Up),
		Earning: earning, Impact: f.route.Impact, Takes: from.Deposit + f.route.Takes + to.Payout,
		Confirmations: from.confirmations(worth), CreatedAt: d.now, Unpaid: d.rule.unpaid, To: d.To, Dropped: f.dropped,
	}
	if err := o.slip(); err != nil {
		return Offer{}, tooMuch(err)
	}
	if _, _, err := o.Quote.Reserve(); errors.Is(err, money.ErrOverflow) {
		return Offer{}, tooMuch(err)
	}
	return o, nil
}

// slip widens the side that is not exact by the slippage: the least output is
// rounded down and the most input up, as what we owe and what we are owed are.
func (o *Offer) slip() error {
	if o.Slippage == 0 {
		return nil
	}
	if len(o.Quote.Steps) > 0 {
		if err := o.worst(); err != nil {
			return err
		}
	}
	if o.Side == To {
		more, err := o.Quote.In.Share(o.Slippage, money.Up)
		if err != nil {
			return err
		}
		o.MaxFrom, err = o.Quote.In.Add(more)
		return err
	}
	if len(o.Quote.Steps) > 0 {
		return nil
	}
	var err error
	o.MinOut, err = o.Quote.Out.Share(money.Whole-o.Slippage, money.Down)
	return err
}

// worst is what is left where every step brings the least that it may: that is what can
// be promised.
func (o *Offer) worst() (err error) {
	least := o.Quote.Steps[0].Give
	for _, s := range o.Quote.Steps {
		if least, err = s.MinOut.MulDiv(least, s.Give, money.Down); err != nil {
			return err
		}
	}
	if least, err = o.Quote.Toll.Rest(least); err != nil {
		return err
	}
	o.MinOut = money.Min(o.Quote.Out, least)
	return nil
}

// Charges are the parts of the price; an integrator's fee only where it is charged.
func (o *Offer) Charges() []Charge {
	all := []Charge{{Network, o.NetworkUSD}, {Service, o.ServiceUSD}}
	if o.Earning != nil && !o.Earning.Skipped {
		all = append(all, Charge{Integrator, o.Earning.USD})
	}
	return all
}

// Warnings are what the caller should know.
func (o *Offer) Warnings() []Warning {
	var all []Warning
	if e := o.Earning; e != nil && e.Skipped {
		all = append(all, Warning{
			Code: "integrator_fee_skipped", Percent: e.Percent, AmountUSD: e.USD, TransferUSD: e.TransferUSD,
			Text: fmt.Sprintf("The integrator fee of %s percent is %s dollars and would cost %s dollars to send; it is not charged.", e.Percent, e.USD, e.TransferUSD),
		})
	}
	if o.Unpaid > 0 {
		all = append(all, Warning{
			Code: "payout_address_missing", Percent: o.Unpaid,
			Text: fmt.Sprintf("The default integrator fee of %s percent is not charged: there is no payout address for this source family.", o.Unpaid),
		})
	}
	return all
}

// rateDigits is how many digits a rate shows where it has no end.
const rateDigits = 18

// Rate is how many whole units are got for one that is given, all costs included, as
// decimal text: exact where it ends within 18 digits, and rounded down after that.
func (o *Offer) Rate() string {
	if o.Quote.In.IsZero() {
		return "0"
	}
	return rateOf(o.Quote.In, o.Quote.Out, o.Give.Decimals-o.Get.Decimals)
}

// places is with how many places a rate is computed, so that it has about rateDigits
// digits.
func places(in, out, shift int) int { return max(rateDigits-out+in-shift, 0) }

// rateOf is out divided by in, times ten to the shift. Nearly all rates need no more
// than an amount holds; rateText is for the others.
func rateOf(in, out money.Amount, shift int) string {
	places := places(in.Digits(), out.Digits(), shift)
	up := places + shift
	if up < 0 || up >= len(tens) {
		return rateText(in.String(), out.String(), shift)
	}
	n, err := out.MulDiv(tens[up], in, money.Down)
	if err != nil {
		return rateText(in.String(), out.String(), shift)
	}
	return n.Decimal(places)
}

// rateText is out divided by in, both digits, times ten to the shift.
func rateText(in, out string, shift int) string {
	places := places(len(in), len(out), shift)
	num, _ := new(big.Int).SetString(out+zeros(places+shift), 10)
	den, _ := new(big.Int).SetString(in+zeros(-places-shift), 10)
	digits := num.Quo(num, den).String()
	if places == 0 {
		return digits
	}
	if len(digits) <= places {
		digits = zeros(places-len(digits)+1) + digits
	}
	head, tail := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if tail == "" {
		return head
	}
	return head + "." + tail
}

func zeros(n int) string { return strings.Repeat("0", max(n, 0)) }
