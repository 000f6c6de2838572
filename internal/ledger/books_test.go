package ledger_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/testseed"
)

var (
	coin  = chain.Asset{Chain: "sim:a"}
	token = chain.Asset{Chain: "sim:a", Ref: "usdc"}
	other = chain.Asset{Chain: "sim:b"}

	hotA = ledger.Hot("sim:a")
	hotB = ledger.Hot("sim:b")
)

func n(v uint64) money.Amount { return money.FromUint64(v) }

func top() money.Amount {
	return money.MustParse("115792089237316195423570985008687907853269984665640564039457584007913129639935")
}

func posting(debit, credit ledger.Account, asset chain.Asset, v uint64) ledger.Entry {
	return ledger.Entry{Postings: []ledger.Posting{{Debit: debit, Credit: credit, Asset: asset, Amount: n(v)}}}
}

func must(t *testing.T, b *ledger.Books, e ledger.Entry) {
	t.Helper()
	if err := b.Apply(e); err != nil {
		t.Fatal(err)
	}
}

func TestAccountSides(t *testing.T) {
	t.Parallel()
	for account, want := range map[ledger.Account]ledger.Side{
		ledger.Capital: ledger.CreditSide, ledger.Liquidity: ledger.AnySide, ledger.Revenue: ledger.AnySide,
		ledger.Unclaimed: ledger.CreditSide, ledger.ReorgLoss: ledger.AnySide, ledger.NetworkFee: ledger.DebitSide,
		ledger.TakenBack("eip155:1"): ledger.AnySide, ledger.Deposits("eip155:1"): ledger.AnySide, ledger.Hot("eip155:1"): ledger.DebitSide,
		ledger.Owed("ord_1"): ledger.CreditSide, ledger.Recovery("ord_1"): ledger.CreditSide, ledger.Fees("int_1"): ledger.CreditSide,
	} {
		if account.Side() != want {
			t.Errorf("%s: side %d, want %d", account, account.Side(), want)
		}
	}
	if got := ledger.Hot("eip155:1").Kind(); got != "hot" {
		t.Errorf("the kind of a chain's wallet is %q", got)
	}
}

func TestBalance(t *testing.T) {
	t.Parallel()
	b := ledger.Balance{Debits: n(10), Credits: n(3), Reserved: n(2)}
	if net, below := b.Net(); net != n(7) || below || b.String() != "7" || b.Free() != n(5) || b.IsZero() {
		t.Errorf("got %s, free %s", b, b.Free())
	}
	owes := ledger.Balance{Debits: n(3), Credits: n(10)}
	if net, below := owes.Net(); net != n(7) || !below || owes.String() != "-7" || !owes.Free().IsZero() {
		t.Errorf("got %s, free %s", owes, owes.Free())
	}
	if !(ledger.Balance{Debits: n(4), Credits: n(4)}).IsZero() || (ledger.Balance{Reserved: n(1)}).IsZero() {
		t.Error("only what has nothing left and nothing reserved is empty")
	}
	short := ledger.Balance{Debits: n(5), Reserved: n(9)}
	if !short.Free().IsZero() {
		t.Errorf("more is reserved than there is, and %s is free", short.Free())
	}
}

func TestReservationsAskOnlyWhereTheyMust(t *testing.T) {
	t.Parallel()
	b := ledger.NewBooks()
	must(t, b, posting(hotA, ledger.Capital, coin, 100))
	reserve := func(name string, v uint64, asks bool) error {
		return b.Apply(ledger.Entry{Reserve: []ledger.Reservation{{Name: name, From: hotA, Asset: coin, Amount: n(v), Must: asks}}})
	}
	if err := reserve("a", 60, true); err != nil {
		t.Fatal(err)
	}
	if err := reserve("b", 41, true); !errors.Is(err, ledger.ErrShort) {
		t.Errorf("41 of 40: got %v", err)
	}
	if err := reserve("b", 40, true); err != nil {
		t.Errorf("40 of 40: got %v", err)
	}
	if err := reserve("a", 1, false); !errors.Is(err, ledger.ErrUnbalanced) {
		t.Errorf("a name twice: got %v", err)
	}
	if err := reserve("owed", 500, false); err != nil {
		t.Errorf("what is owed is reserved without asking: got %v", err)
	}
	if got := b.Balances[ledger.Key{Account: hotA, Asset: coin}].Reserved; got != n(600) {
		t.Errorf("%s is reserved", got)
	}
}

func TestReservationIsReplacedInOneEntry(t *testing.T) {
	t.Parallel()
	b := ledger.NewBooks()
	must(t, b, posting(hotA, ledger.Capital, coin, 100))
	r := ledger.Reservation{Name: "o/payout", From: hotA, Asset: coin, Amount: n(90), Must: true}
	must(t, b, ledger.Entry{Reserve: []ledger.Reservation{r}})
	r.Amount = n(95)
	must(t, b, ledger.Entry{Voids: []string{"o/payout"}, Reserve: []ledger.Reservation{r}})
	if got := b.Balances[ledger.Key{Account: hotA, Asset: coin}].Reserved; got != n(95) {
		t.Errorf("%s is reserved", got)
	}
	must(t, b, ledger.Entry{Voids: []string{"o/payout", "o/payout", "never was"}})
	if len(b.Reservations) != 0 || !b.Balances[ledger.Key{Account: hotA, Asset: coin}].Reserved.IsZero() {
		t.Errorf("left: %v %v", b.Reservations, b.Balances)
	}
}

func TestUnsoundEntriesAreRefused(t *testing.T) {
	t.Parallel()
	sound := ledger.Posting{Debit: hotA, Credit: ledger.Capital, Asset: coin, Amount: n(1)}
	with := func(f func(*ledger.Posting)) ledger.Entry {
		p := sound
		f(&p)
		return ledger.Entry{Postings: []ledger.Posting{sound, p}}
	}
	soundHold := ledger.Reservation{Name: "a", From: hotA, Asset: coin, Amount: n(1)}
	hold := func(f func(*ledger.Reservation)) ledger.Entry {
		r := soundHold
		f(&r)
		return ledger.Entry{Postings: []ledger.Posting{sound}, Reserve: []ledger.Reservation{r}}
	}
	for name, c := range map[string]struct {
		e    ledger.Entry
		want error
	}{
		"nothing moves":                 {with(func(p *ledger.Posting) { p.Amount = n(0) }), ledger.ErrUnbalanced},
		"from nobody":                   {with(func(p *ledger.Posting) { p.Credit = "" }), ledger.ErrUnbalanced},
		"to nobody":                     {with(func(p *ledger.Posting) { p.Debit = "" }), ledger.ErrUnbalanced},
		"to itself":                     {with(func(p *ledger.Posting) { p.Credit = p.Debit }), ledger.ErrUnbalanced},
		"of no asset":                   {with(func(p *ledger.Posting) { p.Asset = chain.Asset{} }), ledger.ErrUnbalanced},
		"a wallet below zero":           {posting(ledger.NetworkFee, hotB, other, 1), ledger.ErrOverdrawn},
		"a user owed less than nothing": {posting(ledger.Owed("o"), ledger.Liquidity, coin, 1), ledger.ErrOverdrawn},
		"a reservation without a name":  {hold(func(r *ledger.Reservation) { r.Name = "" }), ledger.ErrUnbalanced},
		"a reservation of nothing":      {hold(func(r *ledger.Reservation) { r.Amount = n(0) }), ledger.ErrUnbalanced},
		"a reservation from nobody":     {hold(func(r *ledger.Reservation) { r.From = "" }), ledger.ErrUnbalanced},
		"a reservation of no asset":     {hold(func(r *ledger.Reservation) { r.Asset = chain.Asset{} }), ledger.ErrUnbalanced},
		"a reservation past all numbers": {hold(func(r *ledger.Reservation) {
			r.Name, r.Amount = "top", top()
		}), money.ErrOverflow},
		"the same reservation twice": {
			ledger.Entry{Reserve: []ledger.Reservation{soundHold, soundHold}}, ledger.ErrUnbalanced,
		},
	} {
		b := ledger.NewBooks()
		must(t, b, posting(hotA, ledger.Capital, coin, 5))
		must(t, b, ledger.Entry{Reserve: []ledger.Reservation{{Name: "kept", From: hotA, Asset: coin, Amount: n(3)}}})
		before := snapshot(b)
		if err := b.Apply(c.e); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if got := snapshot(b); got != before {
			t.Errorf("%s: was refused and still changed the books from %s to %s", name, before, got)
		}
	}
	if !(ledger.Entry{}).IsZero() || (ledger.Entry{Voids: []string{"a"}}).IsZero() {
		t.Error("an entry that does nothing is not told from one that does")
	}
}

func TestOverflowingBooksAreRefused(t *testing.T) {
	t.Parallel()
	b := ledger.NewBooks()
	must(t, b, ledger.Entry{Postings: []ledger.Posting{{Debit: hotA, Credit: ledger.Capital, Asset: coin, Amount: top()}}})
	before := snapshot(b)
	if err := b.Apply(posting(hotA, ledger.Liquidity, coin, 1)); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("got %v", err)
	}
	if snapshot(b) != before {
		t.Error("the books changed")
	}
}

// snapshot is everything in the books, as text (fmt sorts maps by key).
func snapshot(b *ledger.Books) string { return fmt.Sprint(b.Balances, b.Reservations) }

// TestRandomEntriesKeepTheBooksSound is the property everything else stands on:
// whatever is booked or refused, each asset sums to zero, a refusal changes
// nothing, and what an account has reserved is what its reservations say.
func TestRandomEntriesKeepTheBooksSound(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	booked, refused := 0, 0
	for i := range 200 {
		b := ledger.NewBooks()
		for range 100 {
			e := randomEntry(r, i%4 == 0)
			balances, reservations := maps.Clone(b.Balances), maps.Clone(b.Reservations)
			if err := b.Apply(e); err != nil {
				refused++
				if !maps.Equal(balances, b.Balances) || !maps.Equal(reservations, b.Reservations) {
					t.Fatalf("%+v was refused (%v) and changed the books", e, err)
				}
				continue
			}
			booked++
			mustBeSound(t, b, e)
		}
	}
	if booked < 2000 || refused < 2000 {
		t.Errorf("only %d entries were booked and %d refused", booked, refused)
	}
}

// randomEntry draws an entry; huge ones hold now and then the largest number there is.
func randomEntry(r *rand.Rand, huge bool) ledger.Entry {
	accounts := []ledger.Account{
		hotA, hotB, ledger.Deposits("sim:a"), ledger.Owed("o1"), ledger.Owed("o2"), ledger.Recovery("o1"), ledger.Fees("int"),
		ledger.Capital, ledger.Capital, ledger.Capital, ledger.Liquidity, ledger.Revenue, ledger.Unclaimed, ledger.ReorgLoss, ledger.NetworkFee,
	}
	assets := []chain.Asset{coin, token, other}
	account := func() ledger.Account { return accounts[r.IntN(len(accounts))] }
	asset := func() chain.Asset { return assets[r.IntN(len(assets))] }
	amount := func() money.Amount {
		if huge && r.IntN(100) == 0 {
			return top()
		}
		return n(r.Uint64N(50)) // 0 now and then, which is refused
	}
	name := func() string { return fmt.Sprintf("o%d/payout", r.IntN(6)) }
	var e ledger.Entry
	for range r.IntN(4) {
		e.Postings = append(e.Postings, ledger.Posting{Debit: account(), Credit: account(), Asset: asset(), Amount: amount()})
	}
	for range r.IntN(3) {
		e.Voids = append(e.Voids, name())
	}
	for range r.IntN(3) {
		e.Reserve = append(e.Reserve, ledger.Reservation{Name: name(), From: account(), Asset: asset(), Amount: amount(), Must: r.IntN(2) == 0})
	}
	return e
}

func mustBeSound(t *testing.T, b *ledger.Books, e ledger.Entry) {
	t.Helper()
	for _, a := range []chain.Asset{coin, token, other} {
		sum, err := b.Sum(a)
		if errors.Is(err, money.ErrOverflow) {
			continue // more than 256 bits passed through all accounts together; each is still checked below
		}
		if err != nil || sum.String() != "0" {
			t.Fatalf("after %+v %s sums to %s, %v", e, a, sum, err)
		}
	}
	for k, bal := range b.Balances {
		if err := bal.CheckSide(k.Account); err != nil {
			t.Fatalf("after %+v: %v", e, err)
		}
		reserved, err := b.Reserved(k)
		if err != nil || reserved != bal.Reserved {
			t.Fatalf("after %+v %v has %s reserved, its reservations say %s, %v", e, k, bal.Reserved, reserved, err)
		}
	}
	for name := range maps.Keys(b.Reservations) {
		if b.Reservations[name].Name != name {
			t.Fatalf("reservation %s is kept as %s", b.Reservations[name].Name, name)
		}
	}
}
