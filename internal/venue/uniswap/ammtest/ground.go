package ammtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/internal/devnet/uniswap"
	"ferry/internal/venue/uniswap/amm"
)

// Fees are those of pools, and the distance of their ticks.
var Fees = []struct {
	Fee     uint32
	Spacing int32
}{{100, 1}, {500, 10}, {3000, 60}, {10000, 200}}

// Ground is an EVM with the real contracts, a pair and a pool of each fee, whose storage
// is written anew for each case.
type Ground struct {
	cfg    runtime.Config
	Kit    uniswap.Kit
	U      *uniswap.Uniswap
	Tokens [2]common.Address // sorted
	pair   common.Address
	pools  map[uint32]common.Address
	wrote  []written
}

type written struct {
	at  common.Address
	key common.Hash
}

// New makes one; the contracts are fetched where they are not there yet.
func New(ctx context.Context) (*Ground, error) {
	db, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	if err != nil {
		return nil, err
	}
	kit, err := uniswap.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	g := &Ground{Kit: kit, pools: map[uint32]common.Address{}}
	g.cfg = runtime.Config{State: db, Origin: common.HexToAddress("0xf00d"), GasLimit: math.MaxInt64, Value: new(big.Int), BlockNumber: big.NewInt(1), Time: 1_800_000_000}
	db.AddBalance(g.cfg.Origin, new(uint256.Int).Lsh(uint256.NewInt(1), 200), tracing.BalanceChangeUnspecified)
	g.U, err = uniswap.Deploy(ctx, kit, g)
	if err != nil {
		return nil, err
	}
	other, err := g.Send(ctx, uniswap.Tx{Data: kit["WETH9"].Code})
	if err != nil {
		return nil, err
	}
	g.Tokens[0], g.Tokens[1] = uniswap.Sorted(g.U.WETH, other)
	g.pair, err = g.U.CreatePair(ctx, g.Tokens[0], g.Tokens[1])
	if err != nil {
		return nil, err
	}
	for _, f := range Fees {
		g.pools[f.Fee], err = g.U.CreatePool(ctx, g.Tokens[0], g.Tokens[1], f.Fee, new(big.Int).Lsh(big.NewInt(1), 96))
		if err != nil {
			return nil, err
		}
		for _, token := range g.Tokens { // more than any pool can owe
			db.SetState(token, mapped(g.pools[f.Fee].Bytes(), 3), common.MaxHash)
		}
	}
	return g, nil
}

// Address implements uniswap.Sender.
func (g *Ground) Address() common.Address { return g.cfg.Origin }

// Send implements uniswap.Sender.
func (g *Ground) Send(_ context.Context, tx uniswap.Tx) (common.Address, error) {
	cfg := g.cfg
	if tx.Value != nil {
		cfg.Value = tx.Value
	}
	if tx.To == nil {
		_, at, _, err := runtime.Create(tx.Data, &cfg)
		return at, err
	}
	out, _, err := runtime.Call(*tx.To, tx.Data, &cfg)
	if err != nil {
		return common.Address{}, fmt.Errorf("%w: %x", err, out)
	}
	return common.Address{}, nil
}

// ErrReverted: the contract refused.
var ErrReverted = errors.New("reverted")

// Ask calls a contract and forgets what it did.
func (g *Ground) Ask(to common.Address, data []byte) ([]byte, error) {
	before := g.cfg.State.Snapshot()
	out, _, err := runtime.Call(to, data, &g.cfg)
	g.cfg.State.RevertToSnapshot(before)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %x", ErrReverted, err, out)
	}
	return out, nil
}

func mapped(key []byte, slot byte) common.Hash {
	return crypto.Keccak256Hash(common.LeftPadBytes(key, 32), common.LeftPadBytes([]byte{slot}, 32))
}

func signed(n int32) []byte {
	w := uint256.NewInt(uint64(max(n, -n)))
	if n < 0 {
		w.Neg(w)
	}
	b := w.Bytes32()
	return b[:]
}

func (g *Ground) write(at common.Address, key common.Hash, v *uint256.Int) {
	g.cfg.State.SetState(at, key, v.Bytes32())
	g.wrote = append(g.wrote, written{at, key})
}

// clear forgets the last case.
func (g *Ground) clear() {
	for _, w := range g.wrote {
		g.cfg.State.SetState(w.at, w.key, common.Hash{})
	}
	g.wrote = g.wrote[:0]
}

// PutPair writes the reserves of the pair.
func (g *Ground) PutPair(p *amm.Pair) {
	var w, high uint256.Int
	w.Or(&p.Zero, high.Lsh(&p.One, 112))
	g.cfg.State.SetState(g.pair, common.BigToHash(big.NewInt(8)), w.Bytes32())
}

// PutPool writes a pool as the contract would keep it.
func (g *Ground) PutPool(p *amm.Pool) common.Address {
	at, db := g.pools[p.Fee], g.cfg.State
	g.clear()
	var w, part uint256.Int
	old := new(uint256.Int).SetBytes32(db.GetState(at, common.Hash{}).Bytes())
	w.Lsh(part.Rsh(old, 184), 184)
	tick := uint64(uint32(p.Tick) & 0xffffff) //nolint:gosec // the bits are meant
	w.Or(&w, part.Lsh(uint256.NewInt(tick), 160))
	w.Or(&w, &p.Root)
	db.SetState(at, common.Hash{}, w.Bytes32())
	db.SetState(at, common.BigToHash(big.NewInt(4)), p.Liquidity.Bytes32())
	words := map[int32]*uint256.Int{}
	for _, t := range p.Ticks {
		info := uint256.Int{t.Gross[0], t.Gross[1], t.Net.Low, uint64(t.Net.High)}
		g.write(at, mapped(signed(t.At), 5), &info)
		place := t.At / p.Spacing
		if words[place>>8] == nil {
			words[place>>8] = new(uint256.Int)
		}
		words[place>>8].Or(words[place>>8], part.Lsh(uint256.NewInt(1), uint(place&255)))
	}
	for i, word := range words {
		g.write(at, mapped(signed(i), 6), word)
	}
	return at
}

type single struct {
	TokenIn, TokenOut common.Address
	Amount            *big.Int `abi:"amount"`
	Fee               *big.Int
	SqrtPriceLimitX96 *big.Int
}

type singleIn struct {
	TokenIn, TokenOut common.Address
	AmountIn          *big.Int
	Fee               *big.Int
	SqrtPriceLimitX96 *big.Int
}

// Question is a swap of a pool that was put; without a limit there is none.
type Question struct {
	Amount        uint256.Int
	Down, ExactIn bool
	Limit         *uint256.Int
}

// QuoterCall is the calldata for the contract that quotes.
func (g *Ground) QuoterCall(p *amm.Pool, q Question) []byte {
	in, out := g.Tokens[0], g.Tokens[1]
	if !q.Down {
		in, out = out, in
	}
	fee, at := big.NewInt(int64(p.Fee)), new(big.Int)
	if q.Limit != nil {
		at = q.Limit.ToBig()
	}
	quoter := g.Kit["QuoterV2"].ABI
	var data []byte
	var err error
	if q.ExactIn {
		data, err = quoter.Pack("quoteExactInputSingle", singleIn{in, out, q.Amount.ToBig(), fee, at})
	} else {
		data, err = quoter.Pack("quoteExactOutputSingle", single{in, out, q.Amount.ToBig(), fee, at})
	}
	if err != nil {
		panic(err) // its arguments always fit
	}
	return data
}

// Quoter asks the contract: the amount, the price afterwards and the ticks crossed.
func (g *Ground) Quoter(p *amm.Pool, q Question) (other, root uint256.Int, err error) {
	out, err := g.Ask(g.U.Quoter, g.QuoterCall(p, q))
	if err != nil {
		return other, root, err
	}
	other.SetBytes32(out[:32])
	root.SetBytes32(out[32:64])
	return other, root, nil
}
