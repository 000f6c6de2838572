package rollup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// Gas of what comes from below: all deposits of a block, and the word about the block.
const (
	depositGas = 20_000_000
	infoGas    = 1_000_000
)

// Origin is the block below up to which a block of the rollup has taken deposits, and
// how many blocks of the rollup were made on it before.
type Origin struct {
	Number, Time uint64
	Hash         common.Hash
	BaseFee      *big.Int
	Sequence     uint64
}

// OriginOf is a block below, of which nothing was made yet.
func OriginOf(h *types.Header) Origin {
	return Origin{Number: h.Number.Uint64(), Time: h.Time, Hash: h.Hash(), BaseFee: h.BaseFee}
}

// depositor is who says in each block what is below.
var depositor = common.HexToAddress("0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001")

// infoSize is how long the word about a block below is.
const infoSize = 164

// Info is the first transaction of a block of the rollup: it tells which block below
// the block was made on. What data cost is told to be nothing.
func (o Origin) Info(batcher common.Address) *types.Transaction {
	data := append([]byte{}, types.EcotoneL1AttributesSelector...)
	data = append(data, make([]byte, 8)...)
	data = binary.BigEndian.AppendUint64(data, o.Sequence)
	data = binary.BigEndian.AppendUint64(data, o.Time)
	data = binary.BigEndian.AppendUint64(data, o.Number)
	data = append(data, common.LeftPadBytes(o.BaseFee.Bytes(), 32)...)
	data = append(data, common.LeftPadBytes([]byte{1}, 32)...) // blobs cost the least
	data = append(data, o.Hash[:]...)
	data = append(data, common.LeftPadBytes(batcher[:], 32)...)
	id := crypto.Keccak256(o.Hash[:], common.BigToHash(num(o.Sequence)).Bytes())
	return types.NewTx(&types.DepositTx{
		SourceHash: crypto.Keccak256Hash(common.BigToHash(big.NewInt(1)).Bytes(), id),
		From:       depositor, To: &Attributes, Value: new(big.Int), Gas: infoGas, Data: data,
	})
}

// ReadOrigin reads back what Info said; false where a block has no such word, as the
// first one.
func ReadOrigin(b *types.Block) (Origin, bool) {
	txs := b.Transactions()
	if len(txs) == 0 || !txs[0].IsDepositTx() || len(txs[0].Data()) != infoSize {
		return Origin{}, false
	}
	d := txs[0].Data()
	return Origin{
		Sequence: binary.BigEndian.Uint64(d[12:]), Time: binary.BigEndian.Uint64(d[20:]), Number: binary.BigEndian.Uint64(d[28:]),
		BaseFee: new(big.Int).SetBytes(d[36:68]), Hash: common.BytesToHash(d[100:132]),
	}, true
}

var depositedEvent = portalContract.ABI.Events["TransactionDeposited"]

// errDeposit: the portal said something that it never says.
var errDeposit = errors.New("a deposit can not be read")

// Deposits are the transactions that the receipts of a block below ask for, in order.
func Deposits(portal common.Address, block common.Hash, receipts types.Receipts) ([]*types.Transaction, error) {
	var out []*types.Transaction
	for _, r := range receipts {
		if r.Status != types.ReceiptStatusSuccessful {
			continue
		}
		for _, l := range r.Logs {
			if l.Address != portal || len(l.Topics) == 0 || l.Topics[0] != depositedEvent.ID {
				continue
			}
			tx, err := deposit(block, l)
			if err != nil {
				return nil, fmt.Errorf("log %d of block %s: %w", l.Index, block, err)
			}
			out = append(out, tx)
		}
	}
	return out, nil
}

// deposit reads one: what is minted, what of it is paid, gas, whether it makes a
// contract, and data, packed behind one another.
func deposit(block common.Hash, l *types.Log) (*types.Transaction, error) {
	const fixed = 32 + 32 + 8 + 1
	args, err := depositedEvent.Inputs.NonIndexed().Unpack(l.Data)
	if err != nil || len(l.Topics) != 4 || l.Topics[3] != (common.Hash{}) {
		return nil, errors.Join(errDeposit, err)
	}
	d, ok := args[0].([]byte)
	if !ok || len(d) < fixed {
		return nil, errDeposit
	}
	id := crypto.Keccak256(block[:], common.BigToHash(num(uint64(l.Index))).Bytes())
	tx := &types.DepositTx{
		SourceHash: crypto.Keccak256Hash(make([]byte, 32), id),
		From:       common.BytesToAddress(l.Topics[1][:]),
		Value:      new(big.Int).SetBytes(d[32:64]), Gas: binary.BigEndian.Uint64(d[64:]), Data: d[fixed:],
	}
	if mint := new(big.Int).SetBytes(d[:32]); mint.Sign() > 0 {
		tx.Mint = mint
	}
	if d[fixed-1] == 0 {
		to := common.BytesToAddress(l.Topics[2][:])
		tx.To = &to
	}
	return types.NewTx(tx), nil
}
