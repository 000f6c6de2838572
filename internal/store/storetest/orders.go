package storetest

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/settle"
	"ferry/internal/store"
)

func (b *bench) isClosed(err error) bool { return errors.Is(err, store.ErrClosed) }

var (
	byValue  = cmp.Comparer(func(a, b chain.Address) bool { return a == b })
	byAmount = cmp.Comparer(func(a, b money.Amount) bool { return a == b })
	byPrefix = cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
)

// same compares what was stored with what is read.
func same(t *testing.T, got, wanted any) {
	t.Helper()
	if d := cmp.Diff(wanted, got, byValue, byAmount, byPrefix); d != "" {
		t.Fatalf("differs (-want +got):\n%s", d)
	}
}

func orderRoundTrip(t *testing.T, b *bench) {
	a := b.ask()
	c := must[order.Change](t)(order.New(a, start))
	ok(t, b.db.Create(t.Context(), c))
	same(t, must[order.Order](t)(b.db.Order(t.Context(), a.ID)), c.Now)
	same(t, must[[]order.Order](t)(b.db.Orders(t.Context(), "", 10)), []order.Order{c.Now})
	same(t, len(must[[]order.Order](t)(b.db.Orders(t.Context(), a.ID, 10))), 0)
	_, err := b.db.Order(t.Context(), "ord_none")
	want(t, err, settle.ErrNotFound)
	_, err = b.tell("ord_none", order.Cancelled{}, start)
	want(t, err, settle.ErrNotFound)
	_, err = b.tell("", order.Cancelled{}, start)
	want(t, err, settle.ErrNotFound)
	if held := b.balance(ledger.Hot(get), getAsset).Reserved; held != amount(2000) {
		t.Fatalf("%s is reserved", held)
	}
}

func createTaken(t *testing.T, b *bench) {
	o := b.create()
	again := b.ask()
	again.ID = o.ID
	c := must[order.Change](t)(order.New(again, start))
	want(t, b.db.Create(t.Context(), c), settle.ErrTaken)
	again = b.ask()
	again.DepositTo = o.DepositTo
	c = must[order.Change](t)(order.New(again, start))
	want(t, b.db.Create(t.Context(), c), settle.ErrTaken)
	if held := b.balance(ledger.Hot(get), getAsset).Reserved; held != amount(2000) {
		t.Fatalf("%s is reserved", held)
	}
	if n := must[int64](t)(b.db.Head(t.Context())); n != 1 {
		t.Fatalf("the feed is at %d", n)
	}
}

func createShort(t *testing.T, b *bench) {
	a := b.ask()
	a.Quote.Out = amount(1_000_000_001)
	c := must[order.Change](t)(order.New(a, start))
	want(t, b.db.Create(t.Context(), c), ledger.ErrShort)
	_, err := b.db.Order(t.Context(), a.ID)
	want(t, err, settle.ErrNotFound)
}

func moveKnown(t *testing.T, b *bench) {
	o := b.create()
	seen := order.DepositSeen{Deposit: deposit(o, "d", 1000), Sighting: 1, At: start}
	first := b.told(o.ID, seen, start.Add(time.Second))
	if first.State != order.Confirming || first.Version != 2 {
		t.Fatalf("%s at version %d", first.State, first.Version)
	}
	again, err := b.tell(o.ID, seen, start.Add(2*time.Second))
	want(t, err, order.ErrKnown)
	same(t, again, first)
	// A key that the order does not remember is known to the database.
	now, err := b.db.Move(t.Context(), o.ID, func(o order.Order) (order.Change, error) {
		c, err := o.Apply(order.Cancelled{}, start)
		var turn *order.OutOfTurn
		if !errors.As(err, &turn) {
			return c, fmt.Errorf("cancelled in sight of a deposit: %w", err)
		}
		n := o
		n.Version++
		return order.Change{Was: o.Version, From: o.State, Now: n, Event: seen, At: start}, nil
	})
	want(t, err, order.ErrKnown)
	same(t, now, first)
	same(t, must[order.Order](t)(b.db.Order(t.Context(), o.ID)), first)
}

func moveRefused(t *testing.T, b *bench) {
	o := b.create()
	_, err := b.tell(o.ID, order.PayoutFinal{}, start)
	var turn *order.OutOfTurn
	if !errors.As(err, &turn) {
		t.Fatalf("got %v", err)
	}
	// The books refuse what the machine allowed.
	_, err = b.db.Move(t.Context(), o.ID, func(o order.Order) (order.Change, error) {
		c, err := o.Apply(order.DepositSeen{Deposit: deposit(o, "d", 1000), Sighting: 1, At: start}, start)
		c.Entry.Reserve = []ledger.Reservation{{Name: "x", From: ledger.Hot(get), Asset: getAsset, Amount: amount(2_000_000_000), Must: true}}
		return c, err
	})
	want(t, err, ledger.ErrShort)
	_, err = b.db.Move(t.Context(), o.ID, func(o order.Order) (order.Change, error) {
		c, err := o.Apply(order.DepositSeen{Deposit: deposit(o, "d", 1000), Sighting: 1, At: start}, start)
		c.Entry.Postings = []ledger.Posting{{Debit: ledger.Capital, Credit: ledger.Hot(get), Asset: getAsset, Amount: amount(2_000_000_000)}}
		return c, err
	})
	want(t, err, ledger.ErrOverdrawn)
	same(t, must[order.Order](t)(b.db.Order(t.Context(), o.ID)), o)
	same(t, must[int64](t)(b.db.Head(t.Context())), int64(1))
}

func moveCrooked(t *testing.T, b *bench) {
	o, other := b.create(), b.create()
	for name, bend := range map[string]func(*order.Change){
		"another order": func(c *order.Change) { c.Now.ID = other.ID },
		"a stale one":   func(c *order.Change) { c.Was-- },
		"two at once":   func(c *order.Change) { c.Now.Version++ },
	} {
		_, err := b.db.Move(t.Context(), o.ID, func(o order.Order) (order.Change, error) {
			c, err := o.Apply(order.Cancelled{}, start)
			bend(&c)
			return c, err
		})
		if err == nil {
			t.Errorf("%s was written", name)
		}
	}
	same(t, must[order.Order](t)(b.db.Order(t.Context(), o.ID)), o)
}

func movePanic(t *testing.T, b *bench) {
	o := b.create()
	func() {
		defer func() {
			if p := recover(); p != "ouch" {
				t.Fatalf("recovered %v", p)
			}
		}()
		_, err := b.db.Move(t.Context(), o.ID, func(order.Order) (order.Change, error) { panic("ouch") })
		t.Fatalf("no panic, %v", err)
	}()
	same(t, must[order.Order](t)(b.db.Order(t.Context(), o.ID)), o)
	b.told(o.ID, order.Cancelled{}, start)
}

func moveAllTheWay(t *testing.T, b *bench) {
	o := b.create()
	d := deposit(o, "d", 1000)
	b.told(o.ID, order.DepositSeen{Deposit: d, Sighting: 1, At: start}, start)
	now := b.told(o.ID, order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: start}, start)
	if now.State != order.Sending {
		t.Fatal(now.State)
	}
	if owed := b.balance(ledger.Owed(string(o.ID)), giveAsset); owed.String() != "-1000" {
		t.Fatalf("owed %s", owed)
	}
	work := must[[]settle.Work](t)(b.db.TakeWork(t.Context(), start, time.Minute, 10))
	same(t, len(work), 1)
	wish, is := work[0].Effect.(order.Wish)
	if !is || wish.Call.Amount != amount(2000) || wish.Call.To != o.PayTo || work[0].Order != o.ID {
		t.Fatalf("%+v", work[0])
	}
	now = b.told(o.ID, order.PayoutFinal{Landed: order.Landed{Tx: "paid", Cost: amount(7)}}, start.Add(time.Minute))
	if now.State != order.Completed || now.Payout.Tx != "paid" {
		t.Fatalf("%+v", now)
	}
	same(t, must[order.Order](t)(b.db.Order(t.Context(), o.ID)), now)
	kept := must[map[ledger.Key]ledger.Balance](t)(b.db.Balances(t.Context()))
	if _, there := kept[ledger.Key{Account: ledger.Owed(string(o.ID)), Asset: giveAsset}]; there {
		t.Error("an empty account of an order is kept")
	}
	for k, sum := range map[ledger.Key]string{
		{Account: ledger.Hot(get), Asset: getAsset}:        "999997993",
		{Account: ledger.NetworkFee, Asset: getAsset}:      "7",
		{Account: ledger.Fees(acme), Asset: giveAsset}:     "-10",
		{Account: ledger.Liquidity, Asset: getAsset}:       "2000",
		{Account: ledger.Liquidity, Asset: giveAsset}:      "-990",
		{Account: ledger.Deposits(give), Asset: giveAsset}: "1000",
	} {
		if kept[k].String() != sum || !kept[k].Reserved.IsZero() {
			t.Errorf("%s in %s is %s with %s reserved, want %s", k.Account, k.Asset, kept[k], kept[k].Reserved, sum)
		}
	}
	events := must[[]store.OrderEvent](t)(b.db.OrderEvents(t.Context(), o.ID, 1))
	same(t, len(events), 3)
	if e := events[2]; e.Name != "payout_final" || e.From != order.Sending || e.To != order.Completed || e.Version != 4 || e.Seq != 4 {
		t.Fatalf("%+v", e)
	}
}

func moveRefund(t *testing.T, b *bench) {
	o := b.create()
	wrong := deposit(o, "w", 500)
	wrong.Asset = give.Native()
	b.told(o.ID, order.DepositSeen{Deposit: wrong, Sighting: 1, At: start}, start)
	now := b.told(o.ID, order.DepositFinal{Deposit: wrong, Sighting: 1, SeenAt: start}, start)
	if now.State != order.Refunding {
		t.Fatal(now.State)
	}
	if held := b.balance(ledger.Hot(get), getAsset).Reserved; !held.IsZero() {
		t.Fatalf("%s is still reserved", held)
	}
	now = b.told(o.ID, order.RefundPriced{Cost: amount(100)}, start)
	if held := b.balance(ledger.Hot(give), give.Native()).Reserved; held != amount(400) {
		t.Fatalf("%s is reserved", held)
	}
	now = b.told(o.ID, order.RefundFinal{Landed: order.Landed{Tx: "back", Cost: amount(60)}}, start)
	if now.State != order.Refunded {
		t.Fatal(now.State)
	}
	same(t, must[order.Order](t)(b.db.Order(t.Context(), o.ID)), now)
}
