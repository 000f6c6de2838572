package signer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// Policy is what an operator lets the keys do. Nothing in it is unlimited by being
// left out.
type Policy struct {
	// PerPayment and PerHour bound what leaves a chain.
	PerPayment, PerHour money.USD
	// FeeShare is how much of an amount of Bitcoin its fee may be, whatever the wish
	// allows: a lost change output looks like a fee. Fees up to SmallFee, in satoshis,
	// are not held to it: small payments cost as much as large ones.
	FeeShare money.Percent
	SmallFee money.Amount
	// Sweepers are the contracts that bring deposits home, one for an EVM chain. A
	// chain without one signs no sweeps.
	Sweepers map[chain.ID]chain.Address
	// Contracts are those that may be called, of an EVM chain: a list that is empty is
	// none.
	Contracts map[chain.ID][]chain.Contract
	// Now is the clock of the hour.
	Now func() time.Time
}

func (p Policy) check() error {
	switch {
	case p.PerPayment <= 0, p.PerHour <= 0:
		return errors.New("signer: a cap of nothing never means unlimited; say how many dollars may leave")
	case p.FeeShare <= 0 || p.FeeShare > money.Whole:
		return errors.New("signer: say which share of an amount a fee may be, above nothing and at most all of it")
	case p.Now == nil:
		return errors.New("signer: a policy without a clock")
	}
	return nil
}

// Signer signs what was wished and nothing else. It is safe for concurrent use; one
// paper is judged and signed at a time, so that no two are judged by the same past.
type Signer struct {
	ring   *Ring
	policy Policy
	wishes Wishes
	halts  Halts
	hots   map[chain.ID]chain.Address
	lists  map[chain.ID]contracts

	mu     sync.Mutex
	counts map[chain.ID]*count
	told   coinValues
}

// New makes a signer.
func New(ring *Ring, p Policy, w Wishes, h Halts) (*Signer, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &Signer{ring: ring, policy: p, wishes: w, halts: h, hots: map[chain.ID]chain.Address{}, counts: map[chain.ID]*count{}, lists: map[chain.ID]contracts{}}
	for id, list := range p.Contracts {
		read, err := readContracts(list)
		if err != nil {
			return nil, err
		}
		s.lists[id] = read
	}
	for id, shelf := range ring.shelves {
		hot, err := shelf.address(chain.Key{Account: Hot})
		if err != nil {
			return nil, fmt.Errorf("signer: hot address of %s: %w", id, err)
		}
		s.hots[id], s.counts[id] = hot, &count{}
	}
	return s, nil
}

// Address is the address of a key.
func (s *Signer) Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error) {
	return s.ring.Address(ctx, id, k)
}

// Format hides what it holds from every verb of fmt.
func (s *Signer) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[signer]")) }

// Sign judges a paper and signs it. ErrRefused if it may not.
func (s *Signer) Sign(ctx context.Context, p chain.Paper) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.matter(ctx, p)
	if err != nil {
		return nil, err
	}
	shelf := s.ring.shelves[p.Chain]
	v, err := shelf.judge(m)
	if errors.Is(err, ErrUnreadable) || errors.Is(err, ErrUnknownKey) {
		err = refuse(Unreadable, "%v", err)
	}
	if err != nil {
		return nil, err
	}
	if m.wish.MaxFee.Less(v.fee) {
		return nil, refuse(Fee, "it may cost %s, the wish allows %s", v.fee, m.wish.MaxFee)
	}
	standing, err := stand(shelf, m, v)
	if err != nil {
		return nil, err
	}
	if err := s.told.agree(v.coins); err != nil {
		return nil, err
	}
	entry := counted{wish: m.wish.ID, tokens: v.tokens, usd: m.wish.USD, at: s.policy.Now()}
	counts := m.act == pay || m.act == invoke
	if counts {
		if err := s.counts[p.Chain].allow(entry, standing, s.policy.PerHour); err != nil {
			return nil, err
		}
	}
	raw, err := s.ring.Sign(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	if counts {
		s.counts[p.Chain].add(entry)
	}
	s.told.keep(v.coins)
	return raw, nil
}

// matter looks up what a paper is for, and refuses what no transaction could mend.
func (s *Signer) matter(ctx context.Context, p chain.Paper) (matter, error) {
	m := matter{paper: p, hot: s.hots[p.Chain], sweeper: s.policy.Sweepers[p.Chain], contracts: s.lists[p.Chain], share: s.policy.FeeShare, small: s.policy.SmallFee}
	if m.hot.IsZero() {
		return m, refuse(WrongChain, "there are no keys for the chain %s", p.Chain)
	}
	why, err := s.halts.Halted(ctx, p.Chain)
	switch {
	case err != nil:
		return m, refuse(Halted, "whether %s is halted is not known: %v", p.Chain, err)
	case why != "":
		return m, refuse(Halted, "%s is halted: %s", p.Chain, why)
	}
	if p.For == "" {
		return m, refuse(NotWished, "the paper is for no transfer")
	}
	r, err := s.wishes.Transfer(ctx, send.ID(p.For))
	if err != nil {
		return m, refuse(NotWished, "transfer %s: %v", p.For, err)
	}
	m.wish, m.attempts = r.Transfer, r.Attempts
	switch w := r.Transfer; {
	case string(w.ID) != p.For:
		return m, refuse(NotWished, "transfer %s was looked up and %s was found", p.For, w.ID)
	case !r.Open:
		return m, refuse(Closed, "transfer %s has ended", p.For)
	case w.Call.Chain != p.Chain || w.Call.Asset.Chain != p.Chain:
		return m, refuse(WrongChain, "transfer %s is on %s", p.For, w.Call.Chain)
	case w.Call.From != Hot || len(p.Keys) == 0:
		return m, refuse(WrongKeys, "transfer %s is from the account %q, and %d keys are named", p.For, w.Call.From, len(p.Keys))
	case w.Call.Amount.IsZero() && len(w.Call.Data) == 0 || w.Call.To.IsZero():
		return m, refuse(Amount, "transfer %s pays nothing or nobody", p.For)
	}
	return m, s.weigh(&m)
}

// weigh says what the paper is to do, and holds a payment to its own cap. A cancel
// pays nobody, so that no cap may keep it back.
func (s *Signer) weigh(m *matter) error {
	w := m.wish
	switch {
	case m.paper.Cancel:
		m.act = cancel
	case len(w.Call.Sources) > 0:
		m.act = sweep
		return m.sources(s.ring.shelves[m.paper.Chain])
	case w.Call.To == m.hot:
		return refuse(Recipient, "transfer %s pays our own account", w.ID)
	case w.USD > s.policy.PerPayment:
		return refuse(Capped, "transfer %s is worth %s dollars, %s are allowed for one payment", w.ID, w.USD, s.policy.PerPayment)
	case len(w.Call.Data) > 0 && m.hot.Family() != chain.EVM:
		return refuse(Method, "there are no contracts on %s", w.Call.Chain)
	case len(w.Call.Data) > 0:
		m.act = invoke
		if w.USD <= 0 && !w.Call.Amount.IsZero() {
			return refuse(Capped, "what transfer %s is worth is not known", w.ID)
		}
	case w.USD <= 0:
		return refuse(Capped, "what transfer %s is worth is not known", w.ID)
	}
	return nil
}
