package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/watch"
)

// move is what one transaction did to the balance of an address of ours. It can be
// compared.
type move struct {
	tx, addr string
	// gain and loss are what it has more or less; one of them is zero.
	gain, loss uint256.Int
}

// traced is a transaction's change of state as nodes trace it.
type traced struct {
	TxHash string `json:"txHash"`
	Error  string `json:"error"`
	Result struct {
		Pre  map[string]purse `json:"pre"`
		Post map[string]purse `json:"post"`
	} `json:"result"`
}

// purse is an account in a trace; what did not change is not in it.
type purse struct {
	Balance *hexutil.U256 `json:"balance"`
}

// tracer asks for the change of each account by each transaction, without what
// contracts keep.
var tracer = map[string]any{
	"tracer":       "prestateTracer",
	"tracerConfig": map[string]bool{"diffMode": true, "disableCode": true, "disableStorage": true},
}

// natives finds payments of the chain's own coin.
func (s *scan) natives(ctx context.Context) ([]chain.Deposit, error) {
	plain := s.plain()
	moves := append(slices.Clone(plain), s.homeward()...)
	s.failed()
	if s.traced != nil {
		var err error
		if moves, err = s.traces(); err != nil {
			return nil, err
		}
	}
	hands := slices.DeleteFunc(s.hands(moves, plain), func(h *hand) bool { return !h.paid })
	if len(hands) == 0 {
		return nil, nil
	}
	return s.settle(ctx, hands)
}

// failed notices what was sent to us and undone.
func (s *scan) failed() {
	for _, f := range s.facts {
		if f.To == nil || f.OK && !f.Value.IsZero() {
			continue
		}
		if to := canonical(*f.To); s.to.Has(to) {
			why := NothingMoved
			if !f.OK {
				why = Failed
			}
			s.suspect(f.Hash, to, s.cfg.ID.Native(), why)
		}
	}
}

// plain is what plain transactions moved.
func (s *scan) plain() []move {
	var out []move
	for _, f := range s.facts {
		if f.OK && f.To != nil && !f.Value.IsZero() && s.to.Has(canonical(*f.To)) {
			out = append(out, move{tx: f.Hash.Hex(), addr: canonical(*f.To).Text(), gain: *f.Value})
		}
	}
	return out
}

// homeward is what our own sweeps took. The sweeper does it exactly or not at all, and
// for nobody but us.
func (s *scan) homeward() []move {
	var out []move
	for _, f := range s.facts {
		if !f.OK || f.To == nil || *f.To != s.sweeper || len(f.Data) < 4 {
			continue
		}
		for _, p := range s.swept(f.Data) {
			if from := canonical(p.from); p.token == (common.Address{}) && s.to.Has(from) {
				out = append(out, move{tx: f.Hash.Hex(), addr: from.Text(), loss: *p.amount})
			}
		}
	}
	return out
}

// trace has the nodes trace a block.
func (c *Chain) trace(ctx context.Context, h header) <-chan []quorum.Answer[[]traced] {
	out := make(chan []quorum.Answer[[]traced], 1)
	go func() { out <- rpc.All[[]traced](ctx, c.pool, "debug_traceBlockByHash", h.Hash, tracer) }()
	return out
}

// traces is what transactions moved, also through contracts, as a quorum traces it.
// Whose addresses are ours is asked here and not beside: a node that is slow may answer
// when the caller has gone on and the addresses are no longer those.
func (s *scan) traces() ([]move, error) {
	said := <-s.traced
	moves := make([]quorum.Answer[[]move], len(said))
	for i, a := range said {
		if moves[i].Err = a.Err; a.Err == nil {
			moves[i].Value, moves[i].Err = s.moves(a.Value)
		}
	}
	return quorum.Agree(s.pool.Rule(), moves, slices.Equal)
}

// moves reads a trace. Each transaction of the block must be in it, and no other.
func (s *scan) moves(list []traced) ([]move, error) {
	seen := make(map[string]bool, len(list))
	var out []move
	for _, t := range list {
		if t.Error != "" {
			return nil, fmt.Errorf("a transaction could not be traced: %s", clip(t.Error))
		}
		if seen[t.TxHash] { // a node that says it twice says it once
			continue
		}
		seen[t.TxHash] = true
		out = append(out, readMoves(t, s.to)...)
	}
	for _, f := range s.facts {
		if !seen[f.Hash.Hex()] {
			return nil, fmt.Errorf("%w: the trace leaves out a transaction", ErrForged)
		}
	}
	if len(seen) != len(s.facts) {
		return nil, fmt.Errorf("%w: the trace has a transaction too many", ErrForged)
	}
	slices.SortFunc(out, func(a, b move) int { return cmp.Or(cmp.Compare(a.tx, b.tx), cmp.Compare(a.addr, b.addr)) })
	return out, nil
}

func readMoves(t traced, to watch.Addresses) []move {
	var out []move
	add := func(text string, before, after *hexutil.U256) {
		lower, ok := read(text)
		if !ok {
			return
		}
		addr := chain.CanonicalAddress(chain.EVM, prefix+lower)
		if !to.Has(addr) {
			return
		}
		was, is := new(uint256.Int), new(uint256.Int)
		if before != nil {
			was = (*uint256.Int)(before)
		}
		if after != nil {
			is = (*uint256.Int)(after)
		}
		m := move{tx: t.TxHash, addr: addr.Text()}
		switch was.Cmp(is) {
		case -1:
			m.gain.Sub(is, was)
		case 1:
			m.loss.Sub(was, is)
		default:
			return
		}
		out = append(out, m)
	}
	for text, p := range t.Result.Post {
		if p.Balance != nil { // else it changed in another way
			add(text, t.Result.Pre[text].Balance, p.Balance)
		}
	}
	for text, p := range t.Result.Pre {
		if _, still := t.Result.Post[text]; !still {
			add(text, p.Balance, nil) // it ended
		}
	}
	return out
}

// hands gathers what moved by address, with what the protocol paid out. Whoever a plain
// transaction pays is among them, so that no trace can hide it.
func (s *scan) hands(moves, plain []move) []*hand {
	var out []*hand
	of := make(map[common.Address]*hand)
	at := func(a common.Address) *hand {
		if of[a] == nil {
			of[a] = &hand{addr: a, change: new(big.Int)}
			out = append(out, of[a])
		}
		return of[a]
	}
	for _, m := range plain {
		at(common.HexToAddress(m.addr)).paid = true
	}
	for _, m := range moves {
		h := at(common.HexToAddress(m.addr))
		h.change.Add(h.change, m.gain.ToBig())
		h.change.Sub(h.change, m.loss.ToBig())
		if !m.gain.IsZero() {
			to := canonical(h.addr)
			h.paid = true
			h.found = append(h.found, s.deposit(common.HexToHash(m.tx), to, s.cfg.ID.Native(), nativePlace(to), &m.gain))
		}
	}
	for _, g := range s.gifts {
		if s.to.Has(canonical(g.Address)) {
			h := at(g.Address)
			h.change.Add(h.change, new(big.Int).Mul(new(big.Int).SetUint64(g.Amount), big.NewInt(params.GWei)))
			s.suspect(common.Hash{}, canonical(g.Address), s.cfg.ID.Native(), NoTransaction)
		}
	}
	return out
}

// settle holds what was found against what the state proves. Where the two differ
// nothing of the block is believed: its reading is tried again.
func (s *scan) settle(ctx context.Context, hands []*hand) ([]chain.Deposit, error) {
	accounts, err := s.accounts(ctx, hands)
	if err != nil {
		return nil, err
	}
	var out []chain.Deposit
	for i, h := range hands {
		was, is := accounts[2*i], accounts[2*i+1]
		change := new(big.Int).Sub(is.balance.ToBig(), was.balance.ToBig())
		to := canonical(h.addr)
		switch d := change.Cmp(h.change); {
		case d > 0 && s.cfg.NoTrace:
			s.suspect(common.Hash{}, to, s.cfg.ID.Native(), NotSeenInside)
		case d != 0:
			s.notice(s.block.suspect(common.Hash{}, to, s.cfg.ID.Native(), TraceForged))
			return nil, fmt.Errorf("%w: %s has %s more and not %s", ErrMismatch, to.Text(), change, h.change)
		}
		if !s.ours(is) {
			for _, d := range h.found {
				s.suspect(common.HexToHash(string(d.Tx)), to, d.Asset, ForeignCode)
			}
			continue
		}
		out = append(out, h.found...)
	}
	return out, nil
}

// errNoParent: the first block has none, and nobody is paid in it.
var errNoParent = errors.New("evm: the block has no parent")

// clip keeps what a node says short.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most]
	}
	return s
}
