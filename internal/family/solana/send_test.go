package solana_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	sol "github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"

	"ferry/internal/chain"
	"ferry/internal/family/rpc"
	"ferry/internal/family/solana"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
)

var plenty = money.FromUint64(50_000_000)

func (r *rig) call(to sol.PublicKey, amount uint64) chain.Call {
	return chain.Call{Chain: testID, From: hot, To: addr(to), Asset: testID.Native(), Amount: money.FromUint64(amount)}
}

func (r *rig) goldCall(to sol.PublicKey, amount uint64) chain.Call {
	c := r.call(to, amount)
	c.Asset.Ref = r.gold.String()
	return c
}

// costs checks that a call costs our account what its status says, beside what it pays,
// and no more than was foreseen.
func (r *rig) costs(c chain.Call, pays uint64) uint64 {
	r.t.Helper()
	had := r.lamports(r.own())
	foreseen, err := r.chain.Cost(r.t.Context(), c)
	r.ok(err)
	a, st := r.lands(c)
	fee, _ := st.Fee.Uint64()
	if took := had - r.lamports(r.own()); took != pays+fee || foreseen.Less(a.Fee) || a.Fee.Less(st.Fee) {
		r.t.Fatalf("it took %d for a payment of %d, and says that it cost %s of at most %s", took, pays, st.Fee, a.Fee)
	}
	return fee
}

func TestPayoutsCostWhatTheySay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	bob := key("bob").PublicKey()
	const rent = 2_039_280
	plain := r.costs(r.call(bob, ordinary), ordinary)
	first := r.costs(r.goldCall(bob, 700), 0)
	second := r.costs(r.goldCall(bob, 300), 0)
	if plain < 5000 || plain > 10_000 || first < rent+5000 || first > rent+20_000 || second < 5000 || second > 10_000 {
		t.Fatalf("they cost %d, %d with an account that was made, and %d", plain, first, second)
	}
	if got := r.units(r.gold, bob); got != 1000 {
		t.Fatalf("bob has %d units", got)
	}
	// A payee who is nobody's key, and one for whom somebody left lamports where his
	// account will be.
	pda, _, err := sol.FindProgramAddress([][]byte{[]byte("vault")}, sol.TokenProgramID)
	r.ok(err)
	r.costs(r.call(pda, ordinary), ordinary)
	carol := key("carol").PublicKey()
	home, _, err := sol.FindAssociatedTokenAddress(carol, r.gold)
	r.ok(err)
	r.fund(home, 1_000_000)
	r.mine(1)
	r.costs(r.goldCall(carol, 5), 0)
	if got := r.units(r.gold, carol); got != 5 {
		t.Fatalf("carol has %d units", got)
	}
}

func TestAPayeeWhoseTokenAccountIsMadeMeanwhileIsPaid(t *testing.T) {
	t.Parallel()
	s := &stage{rig: newRig(t), eve: key("eve")}
	s.fund(s.eve.PublicKey(), oneSOL)
	s.mine(1)
	bob := key("bob").PublicKey()
	a, err := s.chain.Draft(t.Context(), s.goldCall(bob, 700), nil, plenty)
	s.ok(err)
	s.play(ata.NewCreateIdempotentInstruction(s.eve.PublicKey(), bob, s.gold).Build())
	s.mine(1)
	s.ok(s.chain.Broadcast(t.Context(), a.Raw))
	s.mine(1)
	s.settle()
	st, err := s.chain.Fate(t.Context(), a)
	s.ok(err)
	if fee, _ := st.Fee.Uint64(); st.Fate != chain.Final || s.units(s.gold, bob) != 700 || fee > 10_000 {
		t.Fatalf("it is %v and cost %s", st.Fate, st.Fee)
	}
}

func TestPayeesThatCannotUseTheMoneyAreRefused(t *testing.T) {
	t.Parallel()
	s := &stage{rig: newRig(t), eve: key("eve")}
	s.fund(s.eve.PublicKey(), 10*oneSOL)
	s.give(s.gold, s.eve.PublicKey(), 1000)
	rich, lost := key("rich"), key("lost his account")
	s.fund(rich.PublicKey(), oneSOL)
	s.fund(lost.PublicKey(), oneSOL)
	s.give(s.gold, lost.PublicKey(), 1)
	s.mine(1)
	home, _, err := sol.FindAssociatedTokenAddress(lost.PublicKey(), s.gold)
	s.ok(err)
	s.submit([]sol.PrivateKey{lost}, token.NewSetAuthorityInstruction(token.AuthorityAccountOwner, s.eve.PublicKey(), home, lost.PublicKey(), nil).Build())
	nonce := key("nonce")
	s.submit([]sol.PrivateKey{s.eve, nonce}, system.NewCreateAccountInstruction(oneSOL, 80, sol.SystemProgramID, s.eve.PublicKey(), nonce.PublicKey()).Build())
	s.mine(1)
	s.settle()
	bob := key("bob").PublicKey()
	for name, row := range map[string]struct {
		call    chain.Call
		refused bool
	}{
		"less than a new account can have": {s.call(bob, 890_879), true},
		"as little as it can have":         {s.call(bob, 890_880), false},
		"a lamport for one who has some":   {s.call(rich.PublicKey(), 1), false},
		"a token account":                  {s.call(s.account(s.gold), ordinary), true},
		"tokens for a token account":       {s.goldCall(s.account(s.gold), 5), true},
		"a mint":                           {s.call(s.gold, ordinary), true},
		"tokens for a mint":                {s.goldCall(s.gold, 5), true},
		"a program":                        {s.call(sol.TokenProgramID, ordinary), true},
		"an account with data":             {s.call(nonce.PublicKey(), ordinary), true},
		"one who gave his account away":    {s.goldCall(lost.PublicKey(), 5), true},
		"tokens for ourselves":             {s.goldCall(s.own(), 5), true},
		"wrapped SOL, which is not listed": {chain.Call{Chain: testID, From: hot, To: addr(bob), Asset: chain.Asset{Chain: testID, Ref: sol.WrappedSol.String()}, Amount: money.FromUint64(5)}, true},
	} {
		_, err := s.chain.Draft(t.Context(), row.call, nil, plenty)
		if row.refused != errors.Is(err, send.ErrRefused) || (!row.refused && err != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSweepsAreAsManyAsFitAndLeaveNoAddressBetweenEmptyAndFull(t *testing.T) {
	t.Parallel()
	s := &stage{rig: newRig(t), eve: key("eve")}
	silver := s.newToken("silver", 6) // of which our account has had none
	s.chain = s.open(solana.Token{Mint: silver.String(), Decimals: 6})
	s.fund(s.eve.PublicKey(), 10*oneSOL)
	s.give(s.gold, s.eve.PublicKey(), 100_000)
	s.give(silver, s.eve.PublicKey(), 100_000)
	s.mine(1)
	const count = 9
	for i := range uint32(count) {
		to := pub(s.depositAddress(i))
		s.play(append(moveUnits(s.eve, s.gold, to, 100), s.pays(to, ordinary))...)
		s.play(moveUnits(s.eve, silver, to, 100)...)
	}
	s.mine(1)
	s.settle()
	sweep := func(a chain.Asset, amount uint64, n int) chain.Call {
		c := chain.Call{Chain: testID, From: hot, To: s.chain.Own(hot), Asset: a, Amount: money.FromUint64(amount * uint64(n))}
		for i := range uint32(n) {
			c.Sources = append(c.Sources, chain.Source{Address: s.depositAddress(i), Index: i, Amount: money.FromUint64(amount)})
		}
		return c
	}
	for _, row := range []struct {
		asset  chain.Asset
		mint   sol.PublicKey
		amount uint64
	}{
		{testID.Native(), sol.PublicKey{}, ordinary},
		{chain.Asset{Chain: testID, Ref: s.gold.String()}, s.gold, 100},
		{chain.Asset{Chain: testID, Ref: silver.String()}, silver, 100},
	} {
		most := s.chain.MaxSources(row.asset)
		_, err := s.chain.Draft(t.Context(), sweep(row.asset, row.amount, most+1), nil, plenty)
		if !errors.Is(err, send.ErrRefused) || !strings.Contains(err.Error(), fmt.Sprintf("; %d do", most)) {
			t.Fatalf("one too many: %v", err)
		}
		had, held := s.lamports(s.own()), s.units(row.mint, s.own())
		a, st := s.lands(sweep(row.asset, row.amount, most))
		if len(a.Raw) > 1232 || len(a.Raw) < 1232-145 {
			t.Fatalf("%d of %v take %d bytes: another number fits", most, row.asset, len(a.Raw))
		}
		fee, _ := st.Fee.Uint64()
		want := had - fee
		if row.asset.IsNative() {
			want += row.amount * uint64(most)
			if left := s.lamports(pub(s.depositAddress(0))); left != 0 {
				t.Fatalf("%d lamports are left", left)
			}
		} else if got := s.units(row.mint, s.own()); got != held+row.amount*uint64(most) {
			t.Fatalf("%d units came home", got-held)
		}
		if got := s.lamports(s.own()); got != want {
			t.Fatalf("our account has %d lamports, want %d", got, want)
		}
	}
	// Dust that came later would leave less than an address needs.
	last := uint32(count - 1)
	c := chain.Call{
		Chain: testID, From: hot, To: s.chain.Own(hot), Asset: testID.Native(), Amount: money.FromUint64(ordinary),
		Sources: []chain.Source{{Address: s.depositAddress(last), Index: last, Amount: money.FromUint64(ordinary)}},
	}
	s.play(s.pays(pub(s.depositAddress(last)), 1))
	s.mine(1)
	for _, when := range []string{"not final", "final"} {
		_, errCost := s.chain.Cost(t.Context(), c)
		if _, err := s.chain.Draft(t.Context(), c, nil, plenty); !errors.Is(err, send.ErrRefused) || !errors.Is(errCost, send.ErrRefused) {
			t.Fatalf("one lamport that is %s would be left: %v, %v", when, err, errCost)
		}
		s.settle()
	}
	c.Amount, c.Sources[0].Amount = money.FromUint64(ordinary+1), money.FromUint64(ordinary+1)
	s.lands(c)
	for _, x := range s.noticed.drain() {
		t.Errorf("our own transactions are news: %v", x)
	}
}

// expired is an attempt whose time is over, with its call.
func (r *rig) expired(land bool) (chain.Attempt, chain.Call) {
	r.t.Helper()
	c := r.call(key("bob").PublicKey(), ordinary)
	a, err := r.chain.Draft(r.t.Context(), c, nil, plenty)
	r.ok(err)
	if land {
		r.ok(r.chain.Broadcast(r.t.Context(), a.Raw))
		r.mine(1)
	}
	r.do("expire", nil, nil)
	return a, c
}

func TestNodesThatThrewOldBlocksAwayNeverMakeAPaymentLookDead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, c := r.expired(true)
	var tip uint64
	r.ask(&tip, "getSlot", newest)
	forget := func(first any) bender {
		return func(method string, _ []any, v any) (any, object) {
			switch method {
			case "getSignatureStatuses":
				return withValue(v, []any{nil}), nil // it landed, and they do not know it any more
			case "getFirstAvailableBlock":
				return first, nil
			}
			return v, nil
		}
	}
	for name, first := range map[string]any{"all but the newest": tip - depth, "what is in question": tip - 10} {
		for _, n := range r.nodes {
			n.bends(forget(first))
		}
		st, err := r.chain.Fate(t.Context(), a)
		if err != nil || st.Fate != chain.Missing {
			t.Errorf("nodes threw away %s, and it is %v, %v", name, st.Fate, err)
		}
		if _, err := r.chain.Redraft(t.Context(), c, a, plenty); !errors.Is(err, send.ErrLive) {
			t.Errorf("nodes threw away %s, and it is paid again: %v", name, err)
		}
	}
	for _, n := range r.nodes {
		n.bends(nil)
	}
	if st, err := r.chain.Fate(t.Context(), a); err != nil || st.Fate != chain.Final {
		t.Fatalf("it is %v, %v", st.Fate, err)
	}
}

func TestAPaymentIsMadeAnewOnlyOnTheWordOfEnoughNodes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, c := r.expired(false)
	young := func(method string, params []any, v any) (any, object) {
		if o, ok := params[0].(object); method == "getBlockHeight" && ok && o["commitment"] == "finalized" {
			return a.Expires - 1, nil
		}
		return v, nil
	}
	r.nodes[0].bends(young)
	if st, err := r.chain.Fate(t.Context(), a); err != nil || st.Fate != chain.Dead {
		t.Fatalf("two of three say that it is over: %v, %v", st.Fate, err)
	}
	r.nodes[1].bends(young)
	if st, err := r.chain.Fate(t.Context(), a); err != nil || st.Fate != chain.Missing {
		t.Fatalf("one of three says that it is over: %v, %v", st.Fate, err)
	}
	if _, err := r.chain.Redraft(t.Context(), c, a, plenty); !errors.Is(err, send.ErrLive) {
		t.Fatalf("one of three says that it is over: %v", err)
	}
	r.nodes[0].bends(nil)
	r.nodes[1].bends(nil)
	b, err := r.chain.Redraft(t.Context(), c, a, plenty)
	r.ok(err)
	if b.Expires <= a.Expires || b.Tx == a.Tx {
		t.Fatalf("made anew it is %v", b)
	}
	// What pays nobody can stand in its place too.
	nothing := chain.Call{Chain: testID, From: hot, To: r.chain.Own(hot), Asset: testID.Native()}
	n, err := r.chain.Redraft(t.Context(), nothing, a, plenty)
	r.ok(err)
	r.ok(r.chain.Broadcast(t.Context(), n.Raw))
	r.mine(1)
	r.settle()
	if st, err := r.chain.Fate(t.Context(), n); err != nil || st.Fate != chain.Final || r.lamports(key("bob").PublicKey()) != 0 {
		t.Fatalf("it is %v, %v", st.Fate, err)
	}
}

func TestHowLongAPaymentCanLandIsNotOneNodesWord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.call(key("bob").PublicKey(), ordinary)
	honest, err := r.chain.Draft(t.Context(), c, nil, plenty)
	r.ok(err)
	r.nodes[0].bends(func(method string, _ []any, v any) (any, object) {
		if o, ok := v.(object); ok && method == "getBlock" {
			o["blockHeight"] = 1
		}
		return v, nil
	})
	a, err := r.chain.Draft(t.Context(), c, nil, plenty)
	r.ok(err)
	if a.Expires != honest.Expires {
		t.Fatalf("one node makes it expire at %d instead of %d", a.Expires, honest.Expires)
	}
}

func TestPricesStayWithinBounds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.call(key("bob").PublicKey(), ordinary)
	cost := func(price uint64) uint64 {
		r.do("price", object{"price": price}, nil)
		v, err := r.chain.Cost(t.Context(), c)
		r.ok(err)
		n, _ := v.Uint64()
		return n
	}
	cheap, dear, absurd, more := cost(0), cost(50_000_000), cost(1<<40), cost(1<<62)
	if cheap < 5000 || cheap >= dear || dear != absurd || absurd != more {
		t.Fatalf("it costs %d, %d, %d and %d", cheap, dear, absurd, more)
	}
}

func TestOurAddressesAreThoseOfSLIP10(t *testing.T) {
	t.Parallel()
	seed := sha256.Sum256([]byte("seed"))
	ring, err := signer.NewRing(seed[:], map[chain.ID]signer.Net{testID: {Family: chain.Solana}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := solana.New(t.Context(), solana.Config{
		ID: testID, Genesis: "g", Accounts: []chain.Account{hot}, MaxPrice: 1, Pool: rpc.Config{URLs: []string{"http://localhost:1"}, Need: 1},
	}, ring)
	if err != nil {
		t.Fatal(err)
	}
	want, err := sol.PrivateKeyFromSeedAtPath(seed[:], "m/44'/501'/0'/0'")
	if err != nil || c.Own(hot) != addr(want.PublicKey()) {
		t.Fatalf("ours is %v, want %v, %v", c.Own(hot), want.PublicKey(), err)
	}
	for _, i := range []uint32{0, 1, 77, 1 << 20} {
		got, err := ring.Address(t.Context(), testID, chain.Key{Account: chain.DepositKeys, Index: i})
		if err != nil {
			t.Fatal(err)
		}
		want, err := sol.PrivateKeyFromSeedAtPath(seed[:], fmt.Sprintf("m/44'/501'/1'/%d'", i))
		if err != nil || got != addr(want.PublicKey()) || codec.Kind(got) != solana.Account {
			t.Fatalf("deposit address %d is %v, want %v, %v", i, got, want.PublicKey(), err)
		}
	}
}

func TestAConfigurationThatWouldBelieveTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	seed := sha256.Sum256([]byte("seed"))
	ring, err := signer.NewRing(seed[:], map[chain.ID]signer.Net{testID: {Family: chain.Solana}})
	if err != nil {
		t.Fatal(err)
	}
	good := solana.Config{ID: testID, Genesis: "g", Accounts: []chain.Account{hot}, MaxPrice: 1, Pool: rpc.Config{URLs: []string{"http://localhost:1"}, Need: 1}}
	mint := key("mint").PublicKey().String()
	for name, spoil := range map[string]func(c *solana.Config){
		"no chain":              func(c *solana.Config) { c.ID = "" },
		"no genesis":            func(c *solana.Config) { c.Genesis = "" },
		"no account":            func(c *solana.Config) { c.Accounts = nil },
		"an unknown account":    func(c *solana.Config) { c.Accounts = []chain.Account{"cold"} },
		"no highest price":      func(c *solana.Config) { c.MaxPrice = 0 },
		"prices upside down":    func(c *solana.Config) { c.MinPrice = 2 },
		"no nodes":              func(c *solana.Config) { c.Pool.URLs = nil },
		"a quorum of none":      func(c *solana.Config) { c.Pool.Need = 0 },
		"a mint that is none":   func(c *solana.Config) { c.Tokens = []solana.Token{{Mint: "gold"}} },
		"a mint twice":          func(c *solana.Config) { c.Tokens = []solana.Token{{Mint: mint}, {Mint: mint}} },
		"another program":       func(c *solana.Config) { c.Tokens = []solana.Token{{Mint: mint, Program: sol.SystemProgramID.String()}} },
		"an unknown extension":  func(c *solana.Config) { c.Tokens = []solana.Token{{Mint: mint, Extensions: []string{"all"}}} },
		"decimals that are not": func(c *solana.Config) { c.Tokens = []solana.Token{{Mint: mint, Decimals: -1}} },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := solana.New(t.Context(), cfg, ring); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	if _, err := solana.New(t.Context(), good, ring); err != nil {
		t.Fatal(err)
	}
}

func TestNoTransactionIsSignedForTwoWishes(t *testing.T) {
	t.Parallel()
	isNew := solana.Signed()
	for i := range 10_000 {
		tx := chain.TxID(fmt.Sprint("tx", i))
		if !isNew(tx) || isNew(tx) {
			t.Fatalf("transaction %d is not known as new, and then as old", i)
		}
		if i > 3000 && isNew(chain.TxID(fmt.Sprint("tx", i-3000))) {
			t.Fatalf("transaction %d was forgotten", i-3000)
		}
	}
}
