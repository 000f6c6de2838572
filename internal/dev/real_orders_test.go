package dev

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// What is exchanged.
var (
	eth     = place{"ethereum", "ETH"}
	usd     = place{"ethereum", "USDC"}
	baseETH = place{"base", "ETH"}
	baseUSD = place{"base", "USDC"}
	btc     = place{"bitcoin", "BTC"}
	twinBTC = place{"bitcoin-twin", "BTC"}
	sol     = place{"solana", "SOL"}
	solUSD  = place{"solana", "USDC"}
)

// story is one thing that happens to an order.
type story struct {
	name string
	tell func(t *testing.T, r *real)
}

// TestOrdersOnRealNodes has everything that may happen to an order happen at once, on
// one network of real nodes, and then holds the books to the chains. Audits run all the
// while: one that missed anything would halt its chain.
func TestOrdersOnRealNodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := stage{
		dir: dir, prefix: networkPrefix(), blocks: manyBlocks, change: calm,
		// Not those that are reorganised: there an order that is late is expired by it.
		brief: []chain.ID{Base, twin, Solana},
	}.begin(t)
	r.closeChains(t)
	r.key = r.company(t, "nobody", nil)
	var wg sync.WaitGroup
	for _, s := range stories() {
		// They wait for blocks and not for the processor, so all of them run at once.
		wg.Go(func() { t.Run(s.name, func(t *testing.T) { s.tell(t, r) }) })
	}
	wg.Wait()
	if !t.Failed() { // a story that ended early left money on its way
		r.booksAreChains(t)
		r.robberies(t, dir)
	}
}

func stories() (all []story) {
	pairs := [][2]place{
		// The nine pairs of families.
		{eth, baseETH},
		{eth, btc},
		{baseETH, sol},
		{btc, eth},
		{btc, twinBTC},
		{twinBTC, sol},
		{sol, baseETH},
		{sol, btc},
		{sol, solUSD},
		// Tokens on each side.
		{usd, btc},
		{btc, baseUSD},
		{solUSD, eth},
		{usd, solUSD},
		{solUSD, baseUSD},
		{baseUSD, usd},
		{baseUSD, sol},
	}
	for _, p := range pairs {
		all = append(all, story{p[0].String() + " to " + p[1].String(), func(t *testing.T, r *real) { completes(t, r, p[0], p[1]) }})
	}
	// Each family, with coins and tokens by turns.
	for _, p := range []struct {
		name     string
		from, to place
		tell     func(*trade)
	}{
		{"paid too little", eth, sol, tooLittle},
		{"paid too little", btc, usd, tooLittle},
		{"paid too little", solUSD, twinBTC, tooLittle},
		{"paid too much", baseUSD, btc, tooMuch},
		{"paid too much", btc, baseETH, tooMuch},
		{"paid too much", sol, eth, tooMuch},
		{"paid late", baseUSD, sol, late},
		{"paid late", twinBTC, solUSD, late},
		{"paid late", sol, baseETH, late},
		{"paid twice", baseETH, usd, twice},
		{"paid twice", twinBTC, baseUSD, twice},
		{"paid twice", solUSD, sol, twice},
		{"cancelled", btc, sol, cancelled},
	} {
		all = append(all, story{p.from.String() + " " + p.name, func(t *testing.T, r *real) { p.tell(r.open(t, r.key, p.from, p.to)) }})
	}
	for _, p := range [][3]place{{eth, usd, sol}, {baseUSD, baseETH, btc}, {sol, solUSD, eth}, {solUSD, sol, baseETH}} {
		all = append(all, story{p[0].String() + " paid in " + p[1].symbol, func(t *testing.T, r *real) { wrongAsset(r.open(t, r.key, p[0], p[2]), p[1]) }})
	}
	all = append(all,
		story{"ethereum, a token that is not listed", func(t *testing.T, r *real) { unlisted(r.open(t, r.key, usd, sol)) }},
		story{"solana, a token that is not listed", func(t *testing.T, r *real) { unlisted(r.open(t, r.key, solUSD, eth)) }},
		story{"ethereum reorganised", func(t *testing.T, r *real) { reorganised(r.open(t, r.key, eth, btc)) }},
		story{"bitcoin reorganised", func(t *testing.T, r *real) { reorganised(r.open(t, r.key, btc, baseETH)) }},
	)
	return all
}

// arrived holds the node of a chain to what the order tells of a payment of a kind.
func (w *trade) arrived(o toldOrder, kind string, at place, address string) money.Amount {
	w.t.Helper()
	p, err := payout(o, kind)
	if err != nil {
		w.t.Fatalf("%s of order %s: %v", kind, w.id, err)
	}
	if p.ToAddress != address {
		w.t.Errorf("%s of order %s went to %s and not to %s", kind, w.id, p.ToAddress, address)
	}
	n := money.MustParse(p.Amount)
	if got := w.Network.has(w.t, w.asset(at), address); got != n || n.IsZero() {
		w.t.Errorf("%s of order %s: its node says %s, the order %s", kind, w.id, got, n)
	}
	return n
}

// completes is an order of an integrator that takes a fee, from its quote to its end.
func completes(t *testing.T, r *real, from, to place) {
	fee := money.Whole / 50
	key := r.company(t, t.Name(), &fee)
	w := r.open(t, key, from, to)
	w.pay(100)
	o := w.until("completed")
	w.arrived(o, "delivery", to, w.toAddr)
	w.so("paid its fee", func(o toldOrder) bool { return o.FeeStatus == "paid" }, &o)
	kept, err := r.DB.Order(t.Context(), order.ID(w.id))
	if err != nil {
		t.Fatal(err)
	}
	want, err := kept.Quote.In.Share(fee, money.Down)
	if err != nil {
		t.Fatal(err)
	}
	earner := o.IntegratorFee.PayoutAddress
	if got := r.Network.has(t, r.asset(from), earner); got != want || got != kept.Fee.Amount {
		t.Errorf("the integrator's node says %s, the fee of the order is %s, and of what it was asked for %s", got, kept.Fee.Amount, want)
	}
	if earner != r.fresh(from.slug, t.Name()+" earns") {
		t.Errorf("the fee went to %s", earner)
	}
	code, text := r.ask(t, key, "", http.MethodGet, "/v2/integrator/orders", nil)
	var report struct {
		Orders []struct{ OrderID, FeeStatus, FeePayoutTxHash string }
	}
	if err := json.Unmarshal(text, &report); code != http.StatusOK || err != nil || len(report.Orders) != 1 || report.Orders[0].FeePayoutTxHash == "" || report.Orders[0].FeeStatus != "paid" {
		t.Errorf("the integrator is told %d %s, %v", code, text, err)
	}
}

// refunded asks for what is in hand, and holds the node to it. What came was more by
// what sending it back costs, and nothing else.
func (w *trade) refunded(at place, came money.Amount) {
	w.t.Helper()
	w.act("refund", nil)
	w.sentBack(w.until("refunded"), "refund", at, came)
}

// sentBack holds the node of the chain to money that went back to its owner.
func (w *trade) sentBack(o toldOrder, kind string, at place, came money.Amount) {
	w.t.Helper()
	n := w.arrived(o, kind, at, w.back)
	least, err := came.MulDiv(money.FromUint64(95), money.FromUint64(100), money.Down)
	if err != nil || !n.Less(came) || n.Less(least) {
		w.t.Errorf("%s of %s came back of %s, %v", n, at, came, err)
	}
	if got := w.Network.has(w.t, w.asset(w.to), w.toAddr); o.Status != "completed" && !got.IsZero() {
		w.t.Errorf("the recipient has %s of an order that was not completed", got)
	}
}

func tooLittle(w *trade) {
	came := w.pay(60)
	if o := w.until("held"); o.failure() != string(order.BelowMinimum) {
		w.t.Errorf("it is held because of %q", o.failure())
	}
	w.refunded(w.from, came)
}

func tooMuch(w *trade) {
	came := w.pay(130)
	o := w.until("completed")
	n := w.arrived(o, "delivery", w.to, w.toAddr)
	if !w.order.Quote.Out.Less(n) || o.Actual.DepositedAmount != came.String() {
		w.t.Errorf("for %s came %s, and %s was promised for less", came, n, w.order.Quote.Out)
	}
}

func late(w *trade) {
	o := w.until("expired")
	if len(o.Deposits) != 0 {
		w.t.Errorf("nobody paid, and there is %+v", o.Deposits)
	}
	came := w.pay(100)
	w.recovered(came, "expired", order.LateDeposit)
}

func twice(w *trade) {
	w.pay(100)
	o := w.until("completed")
	w.arrived(o, "delivery", w.to, w.toAddr)
	came := w.pay(100)
	w.recovered(came, "completed", order.DuplicateDeposit, order.LateDeposit) // late, if all this took so long
	w.arrived(w.read(), "delivery", w.to, w.toAddr)                           // nothing more
}

// recovered is money that came when the order had ended, and goes back when its owner asks.
func (w *trade) recovered(came money.Amount, status string, whys ...order.Reason) {
	w.t.Helper()
	var o toldOrder
	w.so("in recovery", func(o toldOrder) bool { return o.recovery() == "detected" }, &o)
	d := o.Deposits[len(o.Deposits)-1]
	if o.Status != status || !slices.Contains(whys, order.Reason(d.Issue)) || d.Amount != came.String() {
		w.t.Errorf("the order is %s with the deposit %+v", o.Status, d)
	}
	w.act("refund", nil)
	w.so("recovered", func(o toldOrder) bool { return o.recovery() == "refunded" }, &o)
	w.sentBack(o, "recovery", w.from, came)
	if o.Status != status {
		w.t.Errorf("it ended %s, and is %s", status, o.Status)
	}
}

func cancelled(w *trade) {
	w.act("cancel", nil)
	if o := w.read(); o.Status != "expired" {
		w.t.Fatalf("it was cancelled and is %s", o.Status)
	}
	came := w.pay(100)
	w.recovered(came, "expired", order.LateDeposit)
}

// wrongAsset is an order that is paid in another listed asset of the same chain.
func wrongAsset(w *trade, in place) {
	came := w.worth(in, "120")
	w.send(w.asset(in), came)
	if o := w.until("held"); o.failure() != string(order.WrongToken) {
		w.t.Errorf("it is held because of %q", o.failure())
	}
	w.refunded(in, came)
}

// unlisted sends a token that nobody lists to the right address, and pays afterwards:
// only the payment counts.
func unlisted(w *trade) {
	junk := w.junk(w.t, w.from.slug)
	w.send(junk, money.FromUint64(500_000_000))
	w.wait(w.t, "the token lies there", func() bool {
		return !w.Network.has(w.t, junk, w.real.on[w.from.slug].Codec.Show(w.order.DepositTo)).IsZero()
	})
	w.pay(100)
	o := w.until("completed")
	w.arrived(o, "delivery", w.to, w.toAddr)
	if len(o.Deposits) != 1 || o.Deposits[0].Token == junk.Ref || o.recovery() != "" {
		w.t.Errorf("the order knows of %+v", o.Deposits)
	}
}
