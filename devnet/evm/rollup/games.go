package rollup

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// gameType is that of games that anybody may begin.
const gameType = uint32(0)

// How games are played. Nobody here disputes one, so the machine that would settle it is
// not there.
const (
	gameDepth  = 73
	splitDepth = 30
)

// airGap is for how long a game that is over is not used yet.
func (t Terms) airGap() uint64 { return t.Challenge / 2 }

// games adds what games need: where the last state that was won stands, where stakes lie,
// and the game itself, which the factory copies.
func (p *planning) games(a Addresses, t Terms) {
	type outputRoot struct {
		Root          [32]byte
		L2BlockNumber *big.Int
	}
	type start struct {
		GameType   uint32
		OutputRoot outputRoot
	}
	registry := p.add(deploy(proxyContract, p.deployer))
	code := p.add(deploy(registryContract, a.Games))
	p.put(registry, code, registryContract.pack("initialize", []start{{gameType, outputRoot{Root: [32]byte{1}, L2BlockNumber: new(big.Int)}}}))
	bonds := p.add(deploy(proxyContract, p.deployer))
	code = p.add(deploy(bondsContract, num(t.Challenge)))
	p.put(bonds, code, bondsContract.pack("initialize", p.deployer, a.Guard))
	game := p.add(deploy(gameContract, gameType, [32]byte{1}, big.NewInt(gameDepth), big.NewInt(splitDepth),
		uint64(0), t.Challenge, common.Address{}, bonds, registry, num(t.Chain)))
	p.add(Step{To: &a.Games, Data: factory2Contract.pack("setImplementation", gameType, game), Gas: gasCall})
}

// Begin is the call that tells a state in a game of its own.
func Begin(h *types.Header) []byte {
	return factory2Contract.pack("create", gameType, Output(h), common.BigToHash(h.Number).Bytes())
}

// AskGames is the question how many games there are.
func AskGames() []byte { return factory2Contract.pack("gameCount") }

// AskGame is the question where one stands.
func AskGame(index uint64) []byte { return factory2Contract.pack("gameAtIndex", num(index)) }

// ReadGame reads the answer to AskGame: when a game began, and where it stands.
func ReadGame(answer []byte) (began uint64, at common.Address, err error) {
	v, err := factory2Contract.ABI.Unpack("gameAtIndex", answer)
	if err != nil {
		return 0, at, err
	}
	return v[1].(uint64), v[2].(common.Address), nil //nolint:forcetypeassert // as the interface says
}

// AskHeight asks a game of which block it is.
func AskHeight() []byte { return gameContract.pack("l2BlockNumber") }

// AskRoot asks a game what it says of its block.
func AskRoot() []byte { return gameContract.pack("rootClaim") }

// AskStatus asks a game whether it is still played, which is zero.
func AskStatus() []byte { return gameContract.pack("status") }

// Resolve are the calls that end a game in which nobody moved.
func Resolve() [][]byte {
	return [][]byte{gameContract.pack("resolveClaim", new(big.Int), new(big.Int)), gameContract.pack("resolve")}
}
