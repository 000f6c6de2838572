package rollup

import (
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// Output is what is told below of a block of the rollup. Since Isthmus the header has
// the root of what waits to leave where other chains have their withdrawals.
func Output(h *types.Header) common.Hash {
	var version, passer common.Hash
	if h.WithdrawalsHash != nil {
		passer = *h.WithdrawalsHash
	}
	block := h.Hash()
	return crypto.Keccak256Hash(version[:], h.Root[:], passer[:], block[:])
}

// Propose is the call that tells an output.
func Propose(h *types.Header) []byte {
	return oracleContract.pack("proposeL2Output", Output(h), h.Number, common.Hash{}, new(big.Int))
}

// Retract is the call that takes back an output and every later one.
func Retract(index uint64) []byte { return oracleContract.pack("deleteL2Outputs", num(index)) }

// AskOutputs is the question how many outputs were told.
func AskOutputs() []byte { return oracleContract.pack("nextOutputIndex") }

// AskOutput is the question for one.
func AskOutput(index uint64) []byte { return oracleContract.pack("getL2Output", num(index)) }

// Told is an output as the chain below has it.
type Told struct {
	OutputRoot    [32]byte
	Timestamp     *big.Int
	L2BlockNumber *big.Int
}

// ReadOutput reads the answer to AskOutput.
func ReadOutput(answer []byte) (Told, error) {
	values, err := oracleContract.ABI.Unpack("getL2Output", answer)
	if err != nil {
		return Told{}, err
	}
	told, ok := abi.ConvertType(values[0], new(Told)).(*Told)
	if !ok || !told.L2BlockNumber.IsUint64() || !told.Timestamp.IsUint64() {
		return Told{}, errors.New("an output can not be read")
	}
	return *told, nil
}

// Pair is the call that makes a token above of one below; it answers with its address.
func Pair(below common.Address, name, symbol string, decimals uint8) []byte {
	return factoryContract.pack("createOptimismMintableERC20WithDecimals", below, name, symbol, decimals)
}
