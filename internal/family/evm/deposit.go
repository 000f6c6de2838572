package evm

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/watch"
)

// hand is an address of ours in one block: what was said to have come to it and to
// have gone from it, of one asset.
type hand struct {
	addr common.Address
	// change is what must have happened to its balance between the parent and the block.
	change *big.Int
	found  []chain.Deposit
	paid   bool // somebody says that it was paid
}

// scan is the reading of one block.
type scan struct {
	*Chain
	*block
	to       watch.Addresses
	traced   <-chan []quorum.Answer[[]traced]
	suspects []Suspect
}

// Deposits returns every payment in b to one of the addresses: of the chain's own coin
// by the change of a balance that the state proves, of listed tokens by what they
// emitted and by the change of what they say somebody has.
func (c *Chain) Deposits(ctx context.Context, b chain.Block, to watch.Addresses) ([]chain.Deposit, error) {
	h, err := c.present(ctx, b.Hash)
	if err != nil {
		return nil, err
	}
	if h.Height != b.Height || h.Parent != b.Parent {
		return nil, fmt.Errorf("%w: block %s has another place", ErrForged, b.Hash)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &scan{Chain: c, to: to}
	if !c.cfg.NoTrace && !h.empty { // nodes trace while the block is read
		s.traced = c.trace(ctx, h)
	}
	if s.block, err = c.contents(ctx, h); err != nil {
		return nil, err
	}
	natives, err := s.natives(ctx)
	if err != nil {
		return nil, fmt.Errorf("block %s: coins: %w", b.Hash, err)
	}
	tokens, err := s.tokens(ctx)
	if err != nil {
		return nil, fmt.Errorf("block %s: tokens: %w", b.Hash, err)
	}
	list := append(natives, tokens...)
	s.named(list)
	for _, x := range s.suspects {
		c.notice(x)
	}
	slices.SortFunc(list, func(a, b chain.Deposit) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// deposit names a payment: "native" and the address, or the place of the log in its
// transaction, which stays when the transaction is mined again elsewhere.
func (s *scan) deposit(tx common.Hash, to chain.Address, a chain.Asset, place string, amount *uint256.Int) chain.Deposit {
	return chain.Deposit{
		ID: chain.DepositID(string(s.cfg.ID) + ":" + tx.Hex() + ":" + place),
		To: to, Asset: a, Amount: toAmount(amount), Tx: txID(tx), Block: s.Block,
	}
}

func nativePlace(a chain.Address) string { return "native:" + a.Text() }

func logPlace(i int) string { return strconv.Itoa(i) }

func (s *scan) suspect(tx common.Hash, to chain.Address, a chain.Asset, why Reason) {
	s.suspects = append(s.suspects, s.block.suspect(tx, to, a, why))
}

// named tells of transactions that name an address of ours, pay it nothing, and are
// not suspect for another reason: what a trick leaves behind where it moved nothing.
func (s *scan) named(list []chain.Deposit) {
	type pair struct {
		tx chain.TxID
		to chain.Address
	}
	known := make(map[pair]bool)
	for _, d := range list {
		known[pair{d.Tx, d.To}] = true
	}
	for _, x := range s.suspects {
		known[pair{x.Tx, x.To}] = true
	}
	name := func(f fact, a common.Address) {
		to := canonical(a)
		if p := (pair{txID(f.Hash), to}); s.to.Has(to) && !known[p] {
			known[p] = true
			s.suspect(f.Hash, to, s.cfg.ID.Native(), OnlyNamed)
		}
	}
	for _, f := range s.facts {
		if f.To != nil && *f.To != s.sweeper { // our own sweeps name them all
			eachAddress(f.Data, func(a common.Address) { name(f, a) })
		}
	}
}

// word32 is how wide arguments of calls are; padding is what stands before an address.
const word32, padding = 32, 12

// eachAddress finds what may be addresses in the data of a call.
func eachAddress(data []byte, found func(a common.Address)) {
	if len(data) < 4 {
		return
	}
	for data = data[4:]; len(data) >= word32; data = data[word32:] {
		if zero(data[:padding]) && !zero(data[padding:padding+8]) { // small numbers are no addresses
			found(common.BytesToAddress(data[padding:word32]))
		}
	}
}

func zero(b []byte) bool { return strings.Trim(string(b), "\x00") == "" }
