package signer

import (
	"slices"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// act is what a paper is to do.
type act uint8

const (
	pay    act = iota // the wish's amount goes to its recipient
	sweep             // deposit addresses are emptied into the hot account
	invoke            // a contract on the list is called
	cancel            // nobody is paid; what earlier attempts need is used up
)

// matter is a paper beside what was wished.
type matter struct {
	act      act
	paper    chain.Paper
	wish     send.Transfer
	attempts []send.Kept
	hot      chain.Address
	sweeper  chain.Address

	contracts contracts

	share money.Percent
	small money.Amount // fees up to it are not held to the share
}

// verdict is what a family reads from a transaction that does what it should.
type verdict struct {
	// fee is the most it can cost, in the chain's own coin.
	fee money.Amount
	// tokens are what it uses up: of two transactions that share one, only one lands.
	tokens []string
	// coins are what it says about the coins that it spends.
	coins []coinValue
}

// sources holds the named deposits of a sweep to its sum: a wish that disagrees with
// itself is not signed. Our own account may be among them where coins are spent one by
// one, to lift a payment that waits.
func (m *matter) sources(keys shelf) error {
	if m.wish.Call.To != m.hot {
		return refuse(Recipient, "sweep %s does not go to our own account", m.wish.ID)
	}
	var sum money.Amount
	seen := map[chain.Address]bool{}
	for _, src := range m.wish.Call.Sources {
		own, err := keys.address(chain.Key{Account: chain.DepositKeys, Index: src.Index})
		lifts := src.Address == m.hot && m.hot.Family() == chain.Bitcoin
		if err != nil || (own != src.Address && !lifts) {
			return refuse(WrongKeys, "sweep %s: the deposit address %d is not %s", m.wish.ID, src.Index, src.Address.Text())
		}
		next, err := sum.Add(src.Amount)
		if err != nil || src.Amount.IsZero() || seen[src.Address] {
			return refuse(Amount, "sweep %s names the address %s twice or over nothing", m.wish.ID, src.Address.Text())
		}
		sum, seen[src.Address] = next, true
	}
	if sum != m.wish.Call.Amount {
		return refuse(Amount, "sweep %s is of %s, its sources have %s", m.wish.ID, m.wish.Call.Amount, sum)
	}
	return nil
}

// source is the deposit address of a key, if the sweep names it.
func (m *matter) source(k chain.Key) (chain.Source, bool) {
	if k.Account != chain.DepositKeys {
		return chain.Source{}, false
	}
	i := slices.IndexFunc(m.wish.Call.Sources, func(s chain.Source) bool { return s.Index == k.Index && s.Address != m.hot })
	if i < 0 {
		return chain.Source{}, false
	}
	return m.wish.Call.Sources[i], true
}

// footing is how a paper stands to the attempts before it.
type footing struct {
	replaces bool       // an attempt that may land shares a token with it
	dead     [][]string // the tokens of attempts that are proven dead
}

// stand refuses a paper that could land beside an attempt of its wish, by what the
// attempts' own bytes say.
func stand(s shelf, m matter, v verdict) (f footing, err error) {
	for _, a := range m.attempts {
		tokens, err := s.tokens(a.Raw)
		if err != nil {
			return f, refuse(Beside, "attempt %d of %s cannot be read: %v", a.N, m.wish.ID, err)
		}
		switch {
		case a.Dead:
			f.dead = append(f.dead, tokens)
		case !share(tokens, v.tokens):
			return f, refuse(Beside, "it could land beside attempt %d of %s", a.N, m.wish.ID)
		default:
			f.replaces = true
		}
	}
	if m.act == cancel && !f.replaces {
		return f, refuse(Method, "transfer %s has no attempt that could be cancelled", m.wish.ID)
	}
	return f, nil
}
