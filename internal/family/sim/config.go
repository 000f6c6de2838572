package sim

import (
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/money"
)

// Shape is how a chain keeps its accounts.
type Shape uint8

// The shapes.
const (
	Nonces   Shape = iota + 1 // accounts that count their transactions
	Coins                     // coins that are spent once
	Expiring                  // accounts whose transactions can land only for a while
)

func (s Shape) String() string {
	switch s {
	case Nonces:
		return "nonces"
	case Coins:
		return "coins"
	case Expiring:
		return "expiring"
	}
	return fmt.Sprintf("shape(%d)", uint8(s))
}

// Hot is the account a Net has when its config names none.
const Hot chain.Account = "hot"

// Config describes a net. What is left zero gets a default.
type Config struct {
	ID     chain.ID
	Family chain.Family
	Shape  Shape
	// Addresses is the form of its addresses, such as a real family's; the sim's own
	// if it is nil.
	Addresses Addresses
	Assets    []chain.Asset // the listed tokens; the chain's own coin is always listed
	// FinalDepth is how many blocks lie on top of a final one.
	FinalDepth int
	BlockTime  time.Duration
	MinFee     money.Amount // the lowest price per unit of weight that is relayed
	Dust       money.Amount // Coins: the smallest output that is relayed
	Window     uint64       // Expiring: how many heights a transaction may wait
	Capacity   int          // transactions per block
	Keep       int          // how many blocks deep a reorg may go
	Nodes      int
	Quorum     int
	Accounts   []chain.Account // our own wallets
	Start      time.Time
	Seed       uint64
}

// The defaults of a config.
const (
	defaultBlockTime = 10 * time.Second
	defaultDust      = 546
	defaultWindow    = 64
	defaultCapacity  = 2000
	defaultKeep      = 64
	defaultNodes     = 3
	defaultQuorum    = 2
)

func (c Config) withDefaults() (Config, error) {
	if c.ID == "" || c.Family == "" {
		return c, errors.New("sim: a net needs a chain id and a family")
	}
	if c.Shape < Nonces || c.Shape > Expiring {
		return c, fmt.Errorf("sim: no such %v", c.Shape)
	}
	for _, a := range c.Assets {
		if a.Chain != c.ID || (c.Shape == Coins && !a.IsNative()) {
			return c, fmt.Errorf("sim: %v cannot be on a net of %v with %v", a, c.ID, c.Shape)
		}
	}
	if c.Addresses == nil {
		c.Addresses = own{c.Family, c.Shape}
	} else if err := (Codec{c.Family, c.Addresses}).check(); err != nil {
		return c, err
	}
	c.BlockTime = or(c.BlockTime, defaultBlockTime)
	c.MinFee = or(c.MinFee, money.FromUint64(1))
	c.Dust = or(c.Dust, money.FromUint64(defaultDust))
	c.Window = or(c.Window, defaultWindow)
	c.Capacity = or(c.Capacity, defaultCapacity)
	c.Keep = max(or(c.Keep, defaultKeep), 2*c.FinalDepth)
	c.Nodes = or(c.Nodes, defaultNodes)
	c.Quorum = or(c.Quorum, defaultQuorum)
	if len(c.Accounts) == 0 {
		c.Accounts = []chain.Account{Hot}
	}
	if c.Shape == Expiring && c.Window <= uint64(c.FinalDepth)+1 {
		return c, fmt.Errorf("sim: a window of %d ends before %d blocks are final", c.Window, c.FinalDepth)
	}
	_, err := quorum.New(c.Nodes, c.Quorum)
	return c, err
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
