package rollup

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// Terms are what a rollup is told of itself.
type Terms struct {
	// Every is after how many blocks of the rollup its state is told below.
	Every uint64
	// Challenge is for how many seconds what was told, or proven, may be disputed.
	Challenge uint64
	// GasLimit is that of its blocks.
	GasLimit uint64
	// Born is the time of its first block.
	Born uint64
	// Chain is its number.
	Chain uint64
	// Games is that its state is told in games that others may win, as public rollups do
	// now, and not to an oracle, as they did before.
	Games bool
}

// Addresses are the contracts of a rollup on the chain below.
type Addresses struct {
	Guard     common.Address `json:"superchainConfig"`
	Oracle    common.Address `json:"l2OutputOracle"`     // or
	Games     common.Address `json:"disputeGameFactory"` // and not both
	System    common.Address `json:"systemConfig"`
	Portal    common.Address `json:"optimismPortal"`
	Messenger common.Address `json:"l1CrossDomainMessenger"`
	Bridge    common.Address `json:"l1StandardBridge"`
}

// What the plan below does first, in this order.
const (
	atGuard = iota
	atTold  // the oracle, or the factory of games
	atSystem
	atPortal
	atMessenger
	atBridge
	parts
)

// AddressesOf are the contracts that an account makes whose first transactions are Plan.
func AddressesOf(deployer common.Address, games bool) Addresses {
	at := func(n uint64) common.Address { return crypto.CreateAddress(deployer, n) }
	a := Addresses{
		Guard: at(atGuard), Oracle: at(atTold), System: at(atSystem),
		Portal: at(atPortal), Messenger: at(atMessenger), Bridge: at(atBridge),
	}
	if games {
		a.Games, a.Oracle = a.Oracle, common.Address{}
	}
	return a
}

// Step is a transaction of the plan; without To it makes a contract.
type Step struct {
	To    *common.Address
	Data  []byte
	Value *big.Int
	Gas   uint64
}

// Gas that the heaviest steps take, with room.
const (
	gasDeploy = 7_000_000
	gasCall   = 1_500_000
)

// Plan is what the deployer sends, in this order and nothing else: proxies, what stands
// behind them, and their first calls. The step at place n has nonce n, so whoever died in
// the middle goes on where the nonce says.
func Plan(deployer common.Address, t Terms) []Step {
	a := AddressesOf(deployer, t.Games)
	behind := [parts]Step{
		atGuard: deploy(guardContract), atTold: deploy(oracleContract), atSystem: deploy(systemContract),
		atPortal: deploy(portalContract), atMessenger: deploy(messengerContract), atBridge: deploy(bridgeContract),
	}
	first := [parts][]byte{
		atGuard:     guardContract.pack("initialize", deployer, false),
		atTold:      oracleContract.pack("initialize", num(t.Every), num(1), num(0), num(t.Born), deployer, deployer, num(t.Challenge)),
		atSystem:    systemFirst(deployer, a, t),
		atPortal:    portalContract.pack("initialize", a.Oracle, a.System, a.Guard),
		atMessenger: messengerContract.pack("initialize", a.Guard, a.Portal, a.System),
		atBridge:    bridgeContract.pack("initialize", a.Messenger, a.Guard, a.System),
	}
	if t.Games {
		behind[atTold], behind[atPortal] = deploy(factory2Contract), deploy(portal2Contract, num(t.Challenge), num(t.airGap()))
		first[atTold] = factory2Contract.pack("initialize", deployer)
		first[atPortal] = portal2Contract.pack("initialize", a.Games, a.System, a.Guard, gameType)
	}
	p := &planning{deployer: deployer}
	for range parts {
		p.add(deploy(proxyContract, deployer))
	}
	for _, s := range behind {
		p.add(s)
	}
	for i, data := range first {
		p.put(crypto.CreateAddress(deployer, uint64(i)), crypto.CreateAddress(deployer, uint64(parts+i)), data) //nolint:gosec // small
	}
	// Coins that the rollup has from its first block came from nowhere; without a gift
	// to the portal they could be withdrawn and not be paid out.
	p.add(Step{To: &a.Portal, Data: portalContract.pack("donateETH"), Value: Gift(), Gas: gasCall})
	if t.Games {
		p.games(a, t)
	}
	return p.steps
}

// planning is a plan that is being made.
type planning struct {
	deployer common.Address
	steps    []Step
}

// add adds a step, and says which contract it makes, if it does.
func (p *planning) add(s Step) common.Address {
	p.steps = append(p.steps, s)
	return crypto.CreateAddress(p.deployer, uint64(len(p.steps)-1))
}

// put puts code behind a proxy and makes the first call of it.
func (p *planning) put(proxy, code common.Address, first []byte) {
	p.add(Step{To: &proxy, Data: proxyContract.pack("upgradeToAndCall", code, first), Gas: gasCall})
}

// deploy is a step that makes a contract.
func deploy(c Contract, args ...any) Step {
	return Step{Data: append(append([]byte{}, c.Code...), c.pack("", args...)...), Gas: gasDeploy}
}

// Gift is what stands behind the coins that a rollup begins with.
func Gift() *big.Int { return new(big.Int).Lsh(big.NewInt(1), 100) }

func systemFirst(deployer common.Address, a Addresses, t Terms) []byte {
	type market struct {
		MaxResourceLimit            uint32
		ElasticityMultiplier        uint8
		BaseFeeMaxChangeDenominator uint8
		MinimumBaseFee              uint32
		SystemTxMaxGas              uint32
		MaximumBaseFee              *big.Int
	}
	type addresses struct {
		L1CrossDomainMessenger       common.Address
		L1ERC721Bridge               common.Address
		L1StandardBridge             common.Address
		DisputeGameFactory           common.Address
		OptimismPortal               common.Address
		OptimismMintableERC20Factory common.Address
		GasPayingToken               common.Address
	}
	// The market for gas of deposits is that of the public rollups.
	m := market{
		MaxResourceLimit: depositGas, ElasticityMultiplier: 10, BaseFeeMaxChangeDenominator: 8,
		MinimumBaseFee: 1_000_000_000, SystemTxMaxGas: infoGas,
		MaximumBaseFee: new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)),
	}
	none := common.Address{}
	return systemContract.pack("initialize", deployer, uint32(0), uint32(0), common.BytesToHash(deployer[:]), t.GasLimit, deployer, m, none,
		addresses{L1CrossDomainMessenger: a.Messenger, L1StandardBridge: a.Bridge, DisputeGameFactory: a.Games, OptimismPortal: a.Portal})
}

func num(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

// startSlot is where the system's contract keeps the block below in which it began.
var startSlot = common.BigToHash(new(big.Int).Sub(crypto.Keccak256Hash([]byte("systemconfig.startBlock")).Big(), big.NewInt(1)))

// StartSlot is that place.
func StartSlot() common.Hash { return startSlot }
