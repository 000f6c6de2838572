package rollup

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/params"
)

// Where contracts of a rollup stand from its first block.
var (
	Messenger  = common.HexToAddress("0x4200000000000000000000000000000000000007")
	Fees       = common.HexToAddress("0x420000000000000000000000000000000000000F")
	Bridge     = common.HexToAddress("0x4200000000000000000000000000000000000010")
	Vault      = common.HexToAddress("0x4200000000000000000000000000000000000011")
	Factory    = common.HexToAddress("0x4200000000000000000000000000000000000012")
	Attributes = common.HexToAddress("0x4200000000000000000000000000000000000015")
	Passer     = common.HexToAddress("0x4200000000000000000000000000000000000016")
)

// Where a proxy keeps who may change it, and who that is on public rollups.
var (
	adminSlot  = common.HexToHash("0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103")
	proxyAdmin = common.HexToAddress("0x4200000000000000000000000000000000000018")
)

// Rules turns the rules of a chain below into those of a rollup: every fork up to the
// one that brings accounts with code (Isthmus, which is Prague), so that addresses can be
// swept as below. Base fees move as below.
func Rules(below params.ChainConfig) *params.ChainConfig {
	zero := uint64(0)
	denominator := uint64(params.DefaultBaseFeeChangeDenominator)
	c := below
	c.BlobScheduleConfig, c.OsakaTime = nil, nil
	c.BedrockBlock = new(big.Int)
	c.RegolithTime, c.CanyonTime, c.EcotoneTime, c.FjordTime = &zero, &zero, &zero, &zero
	c.GraniteTime, c.HoloceneTime, c.IsthmusTime = &zero, &zero, &zero
	c.Optimism = &params.OptimismConfig{
		EIP1559Elasticity: params.DefaultElasticityMultiplier, EIP1559Denominator: denominator, EIP1559DenominatorCanyon: &denominator,
	}
	return &c
}

// Alloc are the contracts that a rollup of these addresses has from its first block, set
// up as their own first calls would leave them.
func Alloc(below Addresses) (types.GenesisAlloc, error) {
	out := types.GenesisAlloc{}
	for _, one := range []struct {
		at    common.Address
		c     Contract
		first []byte
	}{
		{Messenger, messenger2Contract, messenger2Contract.pack("initialize", below.Messenger)},
		{Bridge, bridge2Contract, bridge2Contract.pack("initialize", below.Bridge)},
		{Factory, factoryContract, factoryContract.pack("initialize", Bridge)},
		{Attributes, attributesContract, nil},
		{Passer, passerContract, nil},
		{Fees, feesContract, nil},
	} {
		storage, err := ran(one.at, one.c.Runtime, one.first)
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", one.at, err)
		}
		out[one.at] = types.Account{Nonce: 1, Balance: new(big.Int), Code: one.c.Runtime, Storage: storage}
	}
	// On public rollups a proxy stands before each of them; the rules rely on that where
	// withdrawals are kept, which therefore is never without anything stored.
	passer := out[Passer]
	passer.Storage = map[common.Hash]common.Hash{adminSlot: common.BytesToHash(proxyAdmin[:])}
	out[Passer] = passer
	// Data is priced by the rules of Ecotone and Fjord; two flags in one word say so.
	fees := out[Fees]
	fees.Storage = map[common.Hash]common.Hash{{}: common.HexToHash("0x0101")}
	out[Fees] = fees
	return out, nil
}

// slots is how far the storage of the contracts above reaches.
const slots = 320

// ran calls a contract in a machine of its own and gives what it stored.
func ran(at common.Address, code, first []byte) (map[common.Hash]common.Hash, error) {
	if first == nil {
		return nil, nil
	}
	db, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	if err != nil {
		return nil, err
	}
	db.CreateAccount(at)
	db.SetCode(at, code, 0)
	if _, _, err := runtime.Call(at, first, &runtime.Config{State: db}); err != nil {
		return nil, err
	}
	out := map[common.Hash]common.Hash{}
	for i := range int64(slots) {
		key := common.BigToHash(big.NewInt(i))
		if v := db.GetState(at, key); v != (common.Hash{}) {
			out[key] = v
		}
	}
	return out, nil
}
