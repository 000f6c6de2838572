package cctp_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	dev "ferry/internal/devnet/cctp"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/cctp"
)

// step asks for a route and takes its step.
func (r *rig) step(from, to int, amount money.Amount) (quote.Step, market.Route) {
	r.t.Helper()
	v := r.venue()
	routes, err := v.Routes(r.t.Context(), market.Intent{
		Give: r.cfg.Domains[from].Token, Get: r.cfg.Domains[to].Token, Side: market.From, Amount: amount, At: time.Now(),
	})
	r.ok(err)
	if len(routes) != 1 || len(routes[0].Steps) != 1 {
		r.t.Fatalf("got %+v", routes)
	}
	return routes[0].Steps[0], routes[0]
}

// play runs a step to its end as a settler does that is killed before and after
// everything it does: each look is by a venue that has just been started, and asked twice.
// meddle is told of every call before it is sent, and may send something itself.
func (r *rig) play(s quote.Step, in money.Amount, meddle func(i int, c chain.Call)) (quote.Done, []quote.Sent) {
	r.t.Helper()
	known := quote.Progress{In: in}
	for {
		known.At = time.Now()
		first, err := r.venue().Next(r.t.Context(), s, known)
		r.ok(err)
		again, err := r.venue().Next(r.t.Context(), s, known)
		r.ok(err)
		switch m := first.(type) {
		case quote.Done:
			if again != first {
				r.t.Errorf("done was %+v and then %+v", first, again)
			}
			return m, known.Calls
		case quote.Fail:
			r.t.Fatalf("it failed: %s", m.Why)
		case quote.Wait:
			if m.For <= 0 || m.Why == "" {
				r.t.Errorf("got %+v", m)
			}
			r.tick()
		case quote.Send:
			if !reflect.DeepEqual(first, again) {
				if _, waits := again.(quote.Wait); !waits {
					r.t.Errorf("asked for %+v and then for %+v", first, again)
				}
			}
			if meddle != nil {
				meddle(len(known.Calls), m.Call)
			}
			sent := quote.Sent{Call: m.Call}
			// It was stored, and killed before it was signed; and killed before it landed.
			known.Calls = append(known.Calls, sent)
			r.waits(s, known)
			sent.Tx = r.send(r.hot, m.Call.Chain, m.Call.To, m.Call.Data)
			known.Calls[len(known.Calls)-1] = sent
			r.waits(s, known)
			sent.Fate = r.settled(m.Call.Chain, sent.Tx)
			known.Calls[len(known.Calls)-1] = sent
		}
	}
}

// waits: a call that is on its way is never asked for again.
func (r *rig) waits(s quote.Step, known quote.Progress) {
	r.t.Helper()
	m, err := r.venue().Next(r.t.Context(), s, known)
	r.ok(err)
	if _, ok := m.(quote.Wait); !ok {
		r.t.Errorf("while a call is on its way it says %+v", m)
	}
}

func TestDollarsGoBothWaysAndSurviveEveryKill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ok(r.venue().Check(t.Context()))
	own := addressOf(r.hot)
	r.give(0, own, 100_000_000)
	for i, way := range [][2]int{{0, 1}, {1, 0}, {0, 1}} {
		from, to := r.cfg.Domains[way[0]], r.cfg.Domains[way[1]]
		amount := n(70_000_000 - uint64(i)*20_000_000)
		before := [2]money.Amount{r.balance(from.Chain, own), r.balance(to.Chain, own)}
		s, route := r.step(way[0], way[1], amount)
		done, calls := r.play(s, amount, nil)
		if done.In != amount || done.Out != amount || done.Out.Less(s.MinOut) || done.Out.Less(route.Out) {
			t.Errorf("%d: got %+v, promised %s and %s", i, done, s.MinOut, route.Out)
		}
		want := 3
		if i == 2 { // it was approved before
			want = 2
		}
		if len(calls) != want || calls[len(calls)-2].Call.Amount != amount || !calls[len(calls)-1].Call.Amount.IsZero() {
			t.Errorf("%d: got %+v", i, calls)
		}
		if got := r.balance(from.Chain, own); got != before[0].Less0(amount) {
			t.Errorf("%d: %s is left of %s", i, got, before[0])
		}
		if got := r.balance(to.Chain, own); got.Less0(amount) != before[1] {
			t.Errorf("%d: %s is there after %s", i, got, before[1])
		}
	}
}

func TestAStrangersMintIsOursToo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	own, amount := addressOf(r.hot), n(50_000_000)
	r.give(0, own, 100_000_000)
	s, _ := r.step(0, 1, amount)
	done, calls := r.play(s, amount, func(i int, c chain.Call) {
		if i < 2 {
			return
		}
		tx := r.send(keyFor("stranger"), c.Chain, c.To, c.Data) // just before ours
		if fate := r.settled(c.Chain, tx); fate != chain.Final {
			t.Errorf("the stranger's mint is %s", fate)
		}
	})
	if done.In != amount || done.Out != amount || len(calls) != 3 || calls[2].Fate != chain.Reverted {
		t.Errorf("got %+v by %+v", done, calls)
	}
	if got := r.balance(sides[1].id, own); got != amount {
		t.Errorf("%s were minted", got)
	}
	// Another does it while nobody asks, and the service is gone with its attesters.
	known := r.burned(s, amount)
	m, err := r.venue().Next(t.Context(), s, known)
	r.ok(err)
	c := m.(quote.Send).Call
	r.settled(c.Chain, r.send(keyFor("stranger"), c.Chain, c.To, c.Data))
	r.attester.Bend(func(a *dev.Answer) { a.Attestation = "0x" + strings.Repeat("11", 130) })
	if m, err = r.venue().Next(t.Context(), s, known); err != nil || m != (quote.Done{In: amount, Out: amount}) {
		t.Errorf("got %+v, %v", m, err)
	}
	// Ours was asked for and never landed: what it held is enough to know.
	r.attester.Stop(true)
	known.Calls = append(known.Calls, quote.Sent{Call: c, Fate: chain.Dead})
	if m, err = r.venue().Next(t.Context(), s, known); err != nil || m != (quote.Done{In: amount, Out: amount}) {
		t.Errorf("got %+v, %v", m, err)
	}
	if got := r.balance(sides[1].id, own); got != n(100_000_000) {
		t.Errorf("%s were minted", got)
	}
}

// burned runs a step until its burn is final.
func (r *rig) burned(s quote.Step, amount money.Amount) quote.Progress {
	r.t.Helper()
	known := quote.Progress{In: amount, At: time.Now()}
	for {
		m, err := r.venue().Next(r.t.Context(), s, known)
		r.ok(err)
		c := m.(quote.Send).Call
		tx := r.send(r.hot, c.Chain, c.To, c.Data)
		known.Calls = append(known.Calls, quote.Sent{Call: c, Tx: tx, Fate: r.settled(c.Chain, tx)})
		if !c.Amount.IsZero() {
			return known
		}
	}
}

func TestAMintThatNeverLandedIsSentAgainWithoutTheService(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	amount := n(50_000_000)
	r.give(0, addressOf(r.hot), 100_000_000)
	s, _ := r.step(0, 1, amount)
	known := r.burned(s, amount)
	m, err := r.venue().Next(t.Context(), s, known)
	r.ok(err)
	first := m.(quote.Send)
	r.attester.Stop(true)
	known.Calls = append(known.Calls, quote.Sent{Call: first.Call, Fate: chain.Dead})
	if m, err = r.venue().Next(t.Context(), s, known); err != nil || !reflect.DeepEqual(m, first) {
		t.Errorf("got %+v, %v", m, err)
	}
	for range 3 { // what only reverts is not paid for without end
		known.Calls = append(known.Calls, quote.Sent{Call: first.Call, Tx: "0x1", Fate: chain.Reverted})
	}
	if m, err = r.venue().Next(t.Context(), s, known); err != nil || reflect.TypeOf(m) != reflect.TypeOf(quote.Wait{}) {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestABurnThatCanNotBeIsRefusedWhileTheMoneyIsHere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s, _ := r.step(0, 1, n(5_000_000))
	next := func(known quote.Progress) quote.Move {
		t.Helper()
		known.At = time.Now()
		m, err := r.venue().Next(t.Context(), s, known)
		r.ok(err)
		return m
	}
	for name, in := range map[string]money.Amount{"nothing": {}, "above the limit": n(10_000_000_000_001)} {
		if m, ok := next(quote.Progress{In: in}).(quote.Fail); !ok || m.Why == "" {
			t.Errorf("%s: got %+v", name, m)
		}
	}
	// It has no dollars: what was allowed stands, and the burn reverts.
	known := quote.Progress{In: n(5_000_000)}
	for {
		m := next(known)
		if f, ok := m.(quote.Fail); ok {
			if len(known.Calls) != 4 || !strings.Contains(f.Why, "reverted") {
				t.Errorf("it failed with %q after %d calls", f.Why, len(known.Calls))
			}
			return
		}
		c := m.(quote.Send).Call
		tx := r.send(r.hot, c.Chain, c.To, c.Data)
		known.Calls = append(known.Calls, quote.Sent{Call: c, Tx: tx, Fate: r.settled(c.Chain, tx)})
	}
}

func TestAnAttesterThatIsDownSlowOrLiesOnlyCostsTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	own, amount := addressOf(r.hot), n(10_000_000)
	r.give(0, own, 100_000_000)
	s, _ := r.step(0, 1, amount)
	known := r.burned(s, amount)
	next := func() quote.Move {
		t.Helper()
		m, err := r.venue().Next(t.Context(), s, known)
		r.ok(err)
		return m
	}
	for name, c := range troubles(r) {
		c.begin()
		m, ok := next().(quote.Wait)
		if !ok || !strings.Contains(m.Why, c.why) {
			t.Errorf("%s: got %+v, want to wait because %q", name, m, c.why)
		}
		c.end()
	}
	for {
		if _, ok := next().(quote.Send); ok {
			break
		}
		r.tick()
	}
	if got := r.balance(sides[1].id, own); !got.IsZero() {
		t.Errorf("%s were minted by nobody", got)
	}
}

func TestUsersRunABridgeThemselves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user, amount := keyFor("user"), n(12_345_678)
	r.give(0, addressOf(user), 20_000_000)
	v := r.venue()
	b := cctp.Bridge{
		From: sides[0].id, To: sides[1].id, Depositor: canonical(addressOf(user)), Recipient: canonical(addressOf(keyFor("friend"))),
		Amount: amount, Tag: cctp.TagOf("ord_7"),
	}
	head, err := r.nodes[b.To].Head(t.Context())
	r.ok(err)
	run := func(c cctp.Calldata, err error) chain.TxID {
		t.Helper()
		r.ok(err)
		tx := r.send(user, c.Chain, c.To, c.Data)
		if fate := r.settled(c.Chain, tx); fate != chain.Final {
			t.Fatalf("%s is %s", tx, fate)
		}
		return tx
	}
	f := cctp.Follow{Bridge: b, Since: head.Final.Height, Burn: "0x" + chain.TxID(strings.Repeat("1", 64))}
	stage := func() cctp.Status {
		t.Helper()
		s, err := v.Status(t.Context(), f)
		r.ok(err)
		return s
	}
	if s := stage(); s.Stage != cctp.Unseen {
		t.Errorf("a burn that is nowhere is %+v", s)
	}
	run(v.Approve(b))
	r.attester.Stop(true)
	f.Burn = run(v.Burn(b))
	if s := stage(); s.Stage != cctp.Attesting || s.Burn.Message.Amount != amount || s.Burn.Tx != f.Burn || s.Burn.Index == 0 || time.Since(s.ReadyAt) > time.Hour {
		t.Errorf("a burn is %+v", s)
	}
	r.attester.Stop(false)
	s := stage()
	if s.Stage != cctp.Ready {
		t.Fatalf("an attested burn is %+v", s)
	}
	mint := run(v.Mint(b, s))
	if s = stage(); s.Stage != cctp.Minted || s.Mint.Tx != mint || s.Mint.Amount != amount || !s.Mint.Fee.IsZero() {
		t.Errorf("a mint is %+v", s)
	}
	if got := r.balance(b.To, addressOf(keyFor("friend"))); got != amount {
		t.Errorf("the friend has %s", got)
	}
	f.Bridge.Tag = cctp.Tag{8} // the same burn, of another bridge
	if s, err := v.Status(t.Context(), f); err == nil {
		t.Errorf("another's burn is %+v", s)
	}
	f.Burn, f.Bridge.Tag = run(v.Approve(b)), b.Tag
	if s, err := v.Status(t.Context(), f); err == nil {
		t.Errorf("what burned nothing is %+v", s)
	}
}
