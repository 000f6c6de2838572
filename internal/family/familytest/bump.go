package familytest

import (
	"slices"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

var bumpCases = []kase{
	{"A replacement shares a slot with what it replaces and pays the same", bumps, replacementShares},
	{"Of an attempt and its replacement exactly one lands, whichever is offered first", bumps, oneLands},
	{"Of a long row of replacements exactly one lands", bumps, oneOfManyLands},
	{"A replacement gets through where the first attempt was too cheap", bumps, replacementHelps},
	{"A replacement that pays hardly more is too dear", bumps, bumpTooSmall},
	{"A transfer is cancelled by a call to ourselves over nothing", bumps, cancelled},
	{"A cancel and a payment that both wait end with one of them", bumps, cancelOrPay},
	{"A replacement is refused while the attempt before may land", expires, refusedWhileLive},
	{"After an attempt expired a new one lands, and only that", expires, afterExpiry},
	{"An attempt that landed is never replaced, however late", expires, landedIsLive},
	{"An attempt that expired cannot land from its bytes", expires, expiredRefused},
}

func replacementShares(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	most := sum(a.Fee, a.Fee)
	b, err := h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, most)
	h.ok(err)
	if !slices.ContainsFunc(b.Slots, func(s chain.Slot) bool { return slices.Contains(a.Slots, s) }) {
		h.Fatalf("slots %v and %v have nothing in common", a.Slots, b.Slots)
	}
	if b.Tx == a.Tx || b.Fee.Cmp(a.Fee) <= 0 || most.Less(b.Fee) {
		h.Fatalf("it costs %s, before %s, at most %s", b.Fee, a.Fee, most)
	}
	h.broadcast(b)
	h.Mine(1)
	h.has(bob, h.powers.Amount)
}

func oneLands(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	b := h.bump(h.call(bob), a)
	h.broadcast(b)
	_ = h.ports.Sender.Broadcast(h.ctx(), a.Raw) // refused or not, it must not matter
	h.Mine(1)
	h.settle()
	h.mustBe(b, chain.Final)
	h.mustBe(a, chain.Dead)
	h.has(bob, h.powers.Amount)

	eve := h.Address("eve")
	a = h.draft(h.call(eve))
	b = h.bump(h.call(eve), a)
	h.broadcast(a)
	h.Mine(1)
	_ = h.ports.Sender.Broadcast(h.ctx(), b.Raw)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	h.mustBe(b, chain.Dead)
	h.has(eve, h.powers.Amount)
}

func oneOfManyLands(h *hand) {
	bob := h.Address("bob")
	row := []chain.Attempt{h.draft(h.call(bob))}
	for range 3 {
		row = append(row, h.bump(h.call(bob), row[len(row)-1]))
	}
	for _, i := range []int{0, 2, 1, 3, 0, 2} {
		_ = h.ports.Sender.Broadcast(h.ctx(), row[i].Raw)
	}
	h.Mine(1)
	h.Reorg(1, true)
	for _, i := range []int{1, 0, 2} {
		_ = h.ports.Sender.Broadcast(h.ctx(), row[i].Raw)
	}
	h.Mine(2)
	h.settle()
	landed := 0
	for _, a := range row {
		switch f := h.fate(a).Fate; f {
		case chain.Final:
			landed++
		case chain.Dead:
		default:
			h.Fatalf("attempt %s is %v", a.Tx, f)
		}
	}
	if landed != 1 {
		h.Fatalf("%d attempts landed", landed)
	}
	h.has(bob, h.powers.Amount)
}

func replacementHelps(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.broadcast(a)
	h.Price(2)
	h.Mine(2)
	h.mustBe(a, chain.Pending)
	b, err := h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, h.powers.Budget)
	h.ok(err)
	h.broadcast(b)
	h.Mine(1)
	h.mustBe(b, chain.Included)
	h.has(bob, h.powers.Amount)
}

func bumpTooSmall(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	_, err := h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, a.Fee)
	h.is(err, send.ErrTooDear)
	_, err = h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, sum(a.Fee, money.FromUint64(1)))
	h.is(err, send.ErrTooDear)
}

func cancelled(h *hand) {
	bob := h.Address("bob")
	before := h.Balance(h.ports.Sender.Own(hot), h.native())
	a := h.draft(h.call(bob))
	h.broadcast(a)
	b := h.bump(h.cancel(), a)
	h.broadcast(b)
	h.Mine(1)
	h.settle()
	s := h.mustBe(b, chain.Final)
	h.mustBe(a, chain.Dead)
	h.has(bob, money.Amount{})
	h.has(h.ports.Sender.Own(hot), before.Less0(s.Fee))
}

func cancelOrPay(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	b := h.bump(h.cancel(), a)
	h.broadcast(a)
	h.Mine(1)
	_ = h.ports.Sender.Broadcast(h.ctx(), b.Raw)
	h.Reorg(1, true)
	h.broadcast(b)
	_ = h.ports.Sender.Broadcast(h.ctx(), a.Raw)
	h.Mine(1)
	h.settle()
	h.mustBe(b, chain.Final)
	h.mustBe(a, chain.Dead)
	h.has(bob, money.Amount{})
}

// age is what the expiry of an attempt is compared with.
func (h *hand) age() uint64 {
	h.Helper()
	if b, ok := h.Bench.(Ager); ok {
		return b.Age()
	}
	return h.head().Final.Height
}

// expire mines until the final height is at what an attempt says.
func (h *hand) expire(a chain.Attempt) {
	h.Helper()
	for range 10_000 {
		if h.age() >= a.Expires {
			return
		}
		h.MineEmpty(1)
	}
	h.Fatalf("height %d never became final", a.Expires)
}

func refusedWhileLive(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	if a.Expires <= h.head().Tip.Height {
		h.Fatalf("it expires at %d", a.Expires)
	}
	for h.age() < a.Expires {
		_, err := h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, h.powers.Budget)
		h.is(err, send.ErrLive)
		if f := h.fate(a).Fate; f.Settled() {
			h.Fatalf("at %d it is %v, and expires at %d", h.age(), f, a.Expires)
		}
		h.MineEmpty(1)
	}
	h.mustBe(a, chain.Dead)
	_, err := h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, h.powers.Budget)
	h.ok(err)
}

func afterExpiry(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.expire(a)
	b, err := h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, h.powers.Budget)
	h.ok(err)
	if a.Tx == b.Tx {
		h.Fatal("it is the same transaction")
	}
	_ = h.ports.Sender.Broadcast(h.ctx(), a.Raw)
	h.broadcast(b)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Dead)
	h.mustBe(b, chain.Final)
	h.has(bob, h.powers.Amount)
}

func landedIsLive(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.broadcast(a)
	h.Mine(1)
	h.expire(a)
	h.mustBe(a, chain.Final)
	_, err := h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, h.powers.Budget)
	h.is(err, send.ErrLive)
	h.has(bob, h.powers.Amount)
}

func expiredRefused(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.broadcast(a)
	h.expire(a) // it waited all the time, in blocks that left it out
	h.mustBe(a, chain.Dead)
	if h.ports.Sender.Broadcast(h.ctx(), a.Raw) == nil {
		h.Fatal("it was taken")
	}
	h.Mine(2)
	h.mustBe(a, chain.Dead)
	h.has(bob, money.Amount{})
}
