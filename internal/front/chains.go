package front

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/desk"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/prices"
	"ferry/internal/send"
	"ferry/internal/treasury"
	"ferry/internal/watch"
)

// Codec reads and writes the addresses of a family.
type Codec interface {
	Family() chain.Family
	Parse(text string) (chain.Address, error)
	Show(a chain.Address) string
	Kind(a chain.Address) string
	Make(seed []byte) chain.Address
	PaymentURI(x chain.Asset, to chain.Address, n money.Amount, decimals int) (string, error)
}

// Deriver hands out deposit addresses.
type Deriver interface {
	DepositAddress(ctx context.Context, id chain.ID, o order.ID) (chain.Address, error)
}

// Chain is a chain with everything the rooms need of it.
type Chain struct {
	desk.Chain
	Assets []market.Asset
	Codec  Codec
	// Deriver hands out its deposit addresses. It may be left out where Keys are known:
	// then they are leased from the store, and what comes to them can be brought home.
	Deriver Deriver
	Keys    treasury.Keys
	View    treasury.View // nil where it is not compared with the books
	Own     chain.Address // the hot wallet
	// Funder makes transactions that pay straight into the wallet; nil where nobody pays
	// so.
	Funder  desk.Funder
	Reader  watch.Reader
	Mempool watch.Mempool
	Sender  send.Chain
	Window  uint64
	Tiers   []watch.Tier
	Funding time.Duration // how long a user has to pay
	Every   time.Duration // how often it is looked at; zero is as the service says
	// Contracts are read by sources of prices; nil where the chain has none.
	Contracts prices.Contracts
}

// chains answers what rooms ask about addresses.
type chains struct {
	all   []Chain
	by    map[chain.ID]Chain
	ofs   map[chain.Family]Codec
	atlas *desk.Atlas
	shown shown
}

func newChains(all []Chain) (*chains, error) {
	c := &chains{all: all, by: map[chain.ID]Chain{}, ofs: map[chain.Family]Codec{}}
	var told []desk.Chain
	var tokens []market.Asset
	for _, one := range all {
		if one.Codec == nil || one.Deriver == nil || one.Codec.Family() != one.Family || one.Own.IsZero() {
			return nil, fmt.Errorf("chain %s: has no codec of its family, no addresses or no wallet", one.ID)
		}
		c.by[one.ID], c.ofs[one.Family] = one, one.Codec
		one.Calls = one.Funder != nil
		told, tokens = append(told, one.Chain), append(tokens, one.Assets...)
	}
	var err error
	c.atlas, err = desk.NewAtlas(told, tokens)
	return c, err
}

var errNoChain = fault.New(fault.Invalid, "unsupported_chain", "That chain is not served here; see GET /v2/chains for those that are.")

// Parse reads an address of a chain.
func (c *chains) Parse(id chain.ID, text string) (chain.Address, error) {
	one, ok := c.by[id]
	if !ok {
		return chain.Address{}, errNoChain
	}
	return one.Codec.Parse(text)
}

var errNobody = fault.New(fault.Invalid, "invalid_address", "That is not an address of any chain that is served here.")

// Anyone reads an address of whatever family it is. No text is one of two families.
func (c *chains) Anyone(text string) (chain.Address, error) {
	for _, one := range c.all {
		if a, err := one.Codec.Parse(text); err == nil {
			return a, nil
		}
	}
	return chain.Address{}, errNobody
}

// DepositAddress is an address of ours for an order.
func (c *chains) DepositAddress(ctx context.Context, id chain.ID, o order.ID) (chain.Address, error) {
	one, ok := c.by[id]
	if !ok {
		return chain.Address{}, errNoChain
	}
	return one.Deriver.DepositAddress(ctx, id, o)
}

// Fund makes the transactions by which somebody pays straight into our wallet.
func (c *chains) Fund(ctx context.Context, due chain.Due) (chain.Funding, error) {
	one, ok := c.by[due.Asset.Chain]
	if !ok || one.Funder == nil {
		return chain.Funding{}, errNoChain
	}
	return one.Funder.Fund(ctx, due)
}

// show writes an address of a chain as people know it.
func (c *chains) show(id chain.ID, a chain.Address) string { return c.showOf(c.by[id].Family, a) }

func (c *chains) showOf(f chain.Family, a chain.Address) string {
	codec, ok := c.ofs[f]
	if !ok {
		return a.Text()
	}
	return c.shown.text(codec, f, a)
}

// maxShown is how many addresses are remembered as they are shown.
const maxShown = 4096

// shown remembers addresses as people know them: some are in every quote of an
// integrator, and what a family shows may be a digest of the address.
type shown struct {
	mu    sync.RWMutex
	texts map[shownAs]string
}

type shownAs struct {
	by      chain.Family
	address chain.Address
}

func (s *shown) text(codec Codec, by chain.Family, a chain.Address) string {
	key := shownAs{by, a}
	s.mu.RLock()
	text, known := s.texts[key]
	s.mu.RUnlock()
	if known {
		return text
	}
	text = codec.Show(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil || len(s.texts) >= maxShown { // what is shown often is soon there again
		s.texts = map[shownAs]string{}
	}
	s.texts[key] = text
	return text
}

// uri is a link for wallets, or nothing where the chain has no form for it.
func (c *chains) uri(x chain.Asset, to chain.Address, n money.Amount) string {
	one := c.by[x.Chain]
	link, err := one.Codec.PaymentURI(x, to, n, c.atlas.Asset(x).Decimals)
	if err != nil {
		return ""
	}
	return link
}

// families reads addresses by family, for payout addresses.
type families map[chain.Family]Codec

// Parse implements office.Codecs.
func (f families) Parse(of chain.Family, text string) (chain.Address, error) {
	codec, ok := f[of]
	if !ok {
		return chain.Address{}, fault.New(fault.Invalid, "invalid_field", "No chain of the family %s is served here.", of)
	}
	return codec.Parse(text)
}

// served are the chains as the daemon runs them.
func (c *chains) served() []daemon.Chain {
	var all []daemon.Chain
	for _, one := range c.all {
		d := daemon.Chain{
			ID: one.ID, Tiers: one.Tiers, Window: one.Window, Reader: one.Reader, Mempool: one.Mempool, Sender: one.Sender, View: one.View, Every: one.Every,
		}
		for _, a := range one.Assets {
			d.Assets = append(d.Assets, a.Asset)
		}
		all = append(all, d)
	}
	return all
}

// priced are the chains as offers speak of them.
func (c *chains) priced(slippage money.Percent) []market.Chain {
	var all []market.Chain
	for _, one := range c.all {
		m := market.Chain{ID: one.ID, Family: one.Family, Slippage: slippage}
		deepest := uint64(1)
		for _, t := range one.Tiers {
			m.Depths = append(m.Depths, market.Depth{UpTo: t.UpTo, Confirmations: t.Confirmations})
			deepest = max(deepest, t.Confirmations)
		}
		m.Deposit = max(time.Second, one.BlockTime*time.Duration(one.Confirmations+1))
		m.Payout = max(time.Second, one.BlockTime*time.Duration(deepest+1))
		all = append(all, m)
	}
	return all
}

func (c *chains) own() map[chain.ID]chain.Address {
	own := map[chain.ID]chain.Address{}
	for _, one := range c.all {
		own[one.ID] = one.Own
	}
	return own
}

func (c *chains) funding() map[chain.ID]time.Duration {
	all := map[chain.ID]time.Duration{}
	for _, one := range c.all {
		all[one.ID] = one.Funding
	}
	return all
}

// senders are the chains as they say what a call costs.
func (c *chains) senders() map[chain.ID]market.Costs {
	all := map[chain.ID]market.Costs{}
	for _, one := range c.all {
		all[one.ID] = one.Sender
	}
	return all
}

// derive makes a secret of its own for each purpose out of one, so that a room that
// tells its own tells nothing of another's.
func derive(master, purpose string) string {
	h := sha256.Sum256([]byte("ferry/" + purpose + "\x00" + master))
	return fmt.Sprintf("%x", h)
}
