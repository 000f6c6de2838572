package opbridge

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Deposit is a transfer upwards that began for good.
type Deposit struct {
	Transfer
	Tx      chain.TxID // below
	Arrives chain.TxID // above: the transaction that brings it, known before it is there
	Message chain.Word
}

// Deposits are what a transaction below brings upwards through this bridge.
func (b *Bridge) Deposits(ctx context.Context, tx chain.TxID) ([]Deposit, error) {
	r, err := final(ctx, b.below, tx)
	if err != nil {
		return nil, fmt.Errorf("deposit %s: %w", tx, err)
	}
	var out []Deposit
	for _, l := range r.Logs {
		if d, ok := b.deposit(l); ok {
			d.Tx = r.Tx
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("deposit %s: %w", tx, ErrForeign)
	}
	return out, nil
}

// depositTx is a transaction of a rollup that comes from below, as its hash is made of it.
type depositTx struct {
	Source common.Hash
	From   common.Address
	To     *common.Address `rlp:"nil"`
	Mint   *big.Int        `rlp:"nil"`
	Value  *big.Int
	Gas    uint64
	System bool
	Data   []byte
}

const depositType = 0x7e

// aliasOf is how a contract below appears above.
func aliasOf(a common.Address) common.Address {
	offset := common.HexToAddress("0x1111000000000000000000000000000000001111")
	sum := new(big.Int).Add(a.Big(), offset.Big())
	return common.BigToAddress(sum.And(sum, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1))))
}

// deposit reads what the portal said; false where it is none of the bridge's.
func (b *Bridge) deposit(l chain.Log) (Deposit, bool) {
	const fixed = 32 + 32 + 8 + 1 // minted, of it paid, gas, whether a contract is made
	e := portalABI.Events["TransactionDeposited"]
	if !said(l, b.portal, e, 4) || l.Topics[3] != (chain.Word{}) {
		return Deposit{}, false
	}
	v, err := e.Inputs.NonIndexed().Unpack(l.Data)
	if err != nil {
		return Deposit{}, false
	}
	d, _ := v[0].([]byte)
	from, to := common.BytesToAddress(l.Topics[1][:]), common.BytesToAddress(l.Topics[2][:])
	if len(d) < fixed || d[fixed-1] != 0 || from != aliasOf(b.messenger) || to != messengerAbove {
		return Deposit{}, false
	}
	tx := depositTx{
		Source: source(l), From: from, To: &to, Mint: new(big.Int).SetBytes(d[:32]), Value: new(big.Int).SetBytes(d[32:64]),
		Gas: binary.BigEndian.Uint64(d[64:]), Data: d[fixed:],
	}
	r, ok := readRelay(tx.Data)
	if !ok || r.Sender != b.bridge || r.Target != bridgeAbove || r.Value.Cmp(tx.Value) != 0 || tx.Mint.Cmp(tx.Value) != 0 {
		return Deposit{}, false
	}
	t, ok := carried(r, true)
	if !ok {
		return Deposit{}, false
	}
	text, err := rlp.EncodeToBytes(&tx)
	if err != nil {
		return Deposit{}, false
	}
	hash := crypto.Keccak256Hash([]byte{depositType}, text)
	return Deposit{Transfer: t, Arrives: chain.TxID(hash.Hex()), Message: chain.Word(messageHash(tx.Data))}, true
}

// source tells deposits apart: by the block below and the place of the log in it.
func source(l chain.Log) common.Hash {
	id := crypto.Keccak256(common.HexToHash(l.Block.Hash).Bytes(), common.BigToHash(new(big.Int).SetUint64(l.Index)).Bytes())
	return crypto.Keccak256Hash(make([]byte, 32), id)
}

// Arrival is where a deposit stands above.
type Arrival struct {
	Stage  Arriving
	Amount money.Amount // what the bridge paid out, once it is Paid
}

// Arriving is how far a deposit is.
type Arriving uint8

// How far a deposit can be.
const (
	Underway Arriving = iota // not there, or not for good
	Paid                     // paid out, for good
	Stuck                    // the bridge above refused it; anybody may have it tried again
	Lost                     // it failed before it reached the bridge, and can not be tried again
)

var arrivals = [...]string{"underway", "paid", "stuck", "lost"}

func (a Arriving) String() string {
	if int(a) < len(arrivals) {
		return arrivals[a]
	}
	return fmt.Sprintf("arriving(%d)", uint8(a))
}

// Arrived is where a deposit stands above.
func (b *Bridge) Arrived(ctx context.Context, d Deposit) (Arrival, error) {
	r, err := b.above.Receipt(ctx, d.Arrives)
	switch {
	case err != nil:
		return Arrival{}, fmt.Errorf("deposit %s: %w", d.Tx, err)
	case r.Fate == chain.Reverted:
		return Arrival{Stage: Lost}, nil
	case r.Fate != chain.Final:
		return Arrival{Stage: Underway}, nil
	}
	o, err := delivered(r.Logs, b.route(true), common.Hash(d.Message), d.Transfer)
	switch {
	case err != nil:
		return Arrival{}, fmt.Errorf("deposit %s: %w", d.Tx, err)
	case o.relayed:
		return Arrival{Stage: Paid, Amount: o.amount}, nil
	case !o.failed:
		return Arrival{}, fmt.Errorf("deposit %s: %w: nothing was said of its message", d.Tx, ErrForeign)
	}
	// It failed, and may have been tried again since, in whatever transaction.
	head, err := b.above.Head(ctx)
	if err != nil {
		return Arrival{}, err
	}
	through, err := relayed(ctx, b.above, head.Final, messengerAbove, common.Hash(d.Message))
	switch {
	case err != nil:
		return Arrival{}, err
	case through:
		return Arrival{Stage: Paid, Amount: d.Amount}, nil
	}
	return Arrival{Stage: Stuck}, nil
}

// relayed asks a messenger whether a message is through.
func relayed(ctx context.Context, on Below, at chain.Block, messenger common.Address, message common.Hash) (bool, error) {
	v, err := ask(ctx, on, at, question{messengerABI, messenger, "successfulMessages", []any{message}})
	if err != nil {
		return false, err
	}
	return v[0].(bool), nil
}
