package kyber

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/market"
	"ferry/internal/money"
)

// Name is the venue's in steps and to callers.
const Name = "kyber"

// hot is the account that swaps.
const hot chain.Account = "hot"

// Config is what the venue needs to know of one chain.
type Config struct {
	Chain chain.ID
	Slug  string        // how the aggregator calls the chain
	Own   chain.Address // our hot account: who swaps, and who gets what comes of it
	// Router is MetaAggregationRouterV2. Executors are the contracts that it may hand a
	// swap to: what they are told is theirs to read alone, so they are known by name.
	Router    chain.Address
	Executors []chain.Address
	// Assets are the only ones that are exchanged.
	Assets []chain.Asset
	// Slippage is the most that a swap may bring less on chain than the way that it was
	// made of, however much less its step would take: what is left to take is taken.
	Slippage money.Percent
	// Approve is how many times what a step needs the router is allowed at once. More
	// saves approvals, and is what its owner could take.
	Approve uint64
	// Patience is how long after it was asked for a swap may still land, and Poll how
	// soon is looked again.
	Patience, Poll time.Duration
	// Noticed hears of what a person should look at; nil is nobody.
	Noticed func(Notice)
}

// Notice is something that the aggregator did and should not.
type Notice struct {
	Chain chain.ID
	Err   error
}

// Bounds of the settings: more is a typing error.
const (
	maxSlippage = money.Whole / 5 // the aggregator takes no more
	maxApprove  = 1000
)

// slug is the form of the aggregator's name for a chain.
var slug = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Check refuses settings that cannot be meant. The signer's list is made of them before
// our own address is known, so that it is looked at by New.
func (c Config) Check() error {
	switch {
	case c.Chain == "" || !slug.MatchString(c.Slug):
		return errors.New("say which chain it is, and how the aggregator calls it")
	case len(c.Executors) == 0:
		return errors.New("name the executors that a swap may be handed to; none never means any")
	case len(c.Assets) < 2:
		return errors.New("name at least two assets; only those are exchanged")
	case c.Slippage <= 0 || c.Slippage > maxSlippage:
		return fmt.Errorf("say how much less a swap may bring than its way, above 0 and at most %s percent", maxSlippage)
	case c.Approve < 1 || c.Approve > maxApprove:
		return fmt.Errorf("say how many times what a step needs is allowed at once, from 1 to %d", maxApprove)
	case c.Patience < time.Second || c.Poll <= 0:
		return errors.New("say how long a swap may take and how soon to look again; zero never means for ever")
	}
	for _, a := range append([]chain.Address{c.Router}, c.Executors...) {
		if _, err := toCommon(a); err != nil {
			return err
		}
	}
	if slices.Contains(c.Executors, c.Router) {
		return errors.New("the router is not its own executor")
	}
	for i, a := range c.Assets {
		if _, ok := tokenOf(a); !ok || a.Chain != c.Chain || slices.Contains(c.Assets[:i], a) {
			return fmt.Errorf("asset %s is of another chain, no token, or named twice", a)
		}
	}
	return nil
}

// Venue is the aggregator on one chain. It may be used by many at once.
type Venue struct {
	cfg   Config
	chain Chain
	api   *Client
	own   common.Address
}

// New checks the settings; nothing is asked yet. Venues of all chains share one client.
func New(cfg Config, c Chain, api *Client) (*Venue, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("kyber on %s: %w", cfg.Chain, err)
	}
	own, err := toCommon(cfg.Own)
	if err != nil {
		return nil, fmt.Errorf("kyber on %s: our own address: %w", cfg.Chain, err)
	}
	if c == nil || api == nil {
		return nil, fmt.Errorf("kyber on %s: it needs a chain and a client", cfg.Chain)
	}
	return &Venue{cfg: cfg, chain: c, api: api, own: own}, nil
}

// Name implements market.Pools.
func (v *Venue) Name() string { return Name }

var _ market.Pools = (*Venue)(nil)

// token is an asset as the router calls it, if it is one of the list.
func (v *Venue) token(a chain.Asset) (common.Address, bool) {
	at, ok := tokenOf(a)
	return at, ok && slices.Contains(v.cfg.Assets, a)
}

func (v *Venue) notice(err error) {
	if v.cfg.Noticed != nil {
		v.cfg.Noticed(Notice{Chain: v.cfg.Chain, Err: err})
	}
}
