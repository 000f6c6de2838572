package evm

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/devnet/evm/rollup"
)

// Rollup is what a chain is asked to be that is a rollup of another.
type Rollup struct {
	// Of is the name of the chain below, which must run.
	Of string `json:"of"`
	// Every is after how many of its blocks the rollup's state is told below.
	Every uint64 `json:"every"`
	// Challenge is for how many seconds what was told below may be disputed.
	Challenge uint64 `json:"challengeSeconds"`
	// Games is that it is told in dispute games, and not to an oracle.
	Games bool `json:"games"`
}

// above is what a rollup knows of itself and of the chain below it.
type above struct {
	base  *Node
	key   *ecdsa.PrivateKey // it deploys, proposes and disputes
	self  common.Address
	at    rollup.Addresses
	terms rollup.Terms
	start uint64 // the block below from which deposits are taken
	rests bool   // nothing is told below
	over  uint64 // how many games need no end any more
}

// errGone: the chain below does not run any more.
var errGone = errors.New("the chain below does not run")

// raise makes the chain below ready for a rollup. What was done before is not done again.
func raise(ctx context.Context, spec Spec, find func(name string) *Node) (*above, error) {
	var base *Node
	if find != nil {
		base = find(spec.Rollup.Of)
	}
	if base == nil {
		return nil, errors.New("no such EVM chain runs")
	}
	if spec.Rollup.Every == 0 || spec.Rollup.Challenge == 0 {
		return nil, errors.New("every and challengeSeconds are missing")
	}
	key, err := keyOf("", fmt.Sprintf("ferry local chain: rollup %d", spec.ChainID))
	if err != nil {
		return nil, err
	}
	u := &above{
		base: base, key: key, self: crypto.PubkeyToAddress(key.PublicKey),
		terms: rollup.Terms{
			Every: spec.Rollup.Every, Challenge: spec.Rollup.Challenge, GasLimit: gasLimit, Born: bornAt,
			Chain: spec.ChainID, Games: spec.Rollup.Games,
		},
	}
	u.at = rollup.AddressesOf(u.self, spec.Rollup.Games)
	return u, u.below(func() error {
		if err := base.found(ctx, u); err != nil {
			return fmt.Errorf("deploy: %w", err)
		}
		s, err := base.eth.BlockChain().State()
		if err != nil {
			return err
		}
		u.start = s.GetState(u.at.System, rollup.StartSlot()).Big().Uint64()
		return nil
	})
}

// below does something with the chain below, while nobody else moves it. A rollup holds
// its own lock first; the chain below never asks for that of one above.
func (u *above) below(do func() error) error {
	u.base.mu.Lock()
	defer u.base.mu.Unlock()
	if u.base.gone {
		return errGone
	}
	return do()
}

// adapt makes the first block that of a rollup.
func (u *above) adapt(g *core.Genesis) error {
	g.Config = rollup.Rules(*g.Config)
	g.ExtraData = eip1559.EncodeHoloceneExtraData(g.Config.Optimism.EIP1559Denominator, g.Config.Optimism.EIP1559Elasticity)
	contracts, err := rollup.Alloc(u.at)
	for at, a := range contracts {
		g.Alloc[at] = a
	}
	return err
}

// found puts the contracts of a rollup onto this chain by ordinary transactions, from
// where an earlier try ended.
func (n *Node) found(ctx context.Context, u *above) error {
	plan := rollup.Plan(u.self, u.terms)
	done, err := n.nonce(u.self)
	if err != nil || done >= uint64(len(plan)) {
		return err
	}
	if done == 0 {
		money := (*hexutil.Big)(new(big.Int).Lsh(rollup.Gift(), 1))
		if _, err := n.send(n.faucet, wish{To: &u.self, Value: money}); err != nil {
			return err
		}
		if err := n.mine(ctx, making{}); err != nil {
			return err
		}
	}
	for i := done; i < uint64(len(plan)); i++ {
		s := plan[i]
		if _, err := n.sendAt(u.key, i, wish{To: s.To, Data: s.Data, Value: (*hexutil.Big)(s.Value), gas: s.Gas}); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	for was := done; done < uint64(len(plan)); was = done {
		if err := n.mine(ctx, making{}); err != nil {
			return err
		}
		if done, err = n.nonce(u.self); err != nil {
			return err
		}
		if done == was {
			return errors.New("its transactions are not taken")
		}
		for _, r := range n.eth.BlockChain().GetReceiptsByHash(n.eth.BlockChain().CurrentBlock().Hash()) {
			if r.Status != types.ReceiptStatusSuccessful {
				return fmt.Errorf("transaction %s failed", r.TxHash)
			}
		}
	}
	return n.mine(ctx, making{N: int(n.spec.FinalDepth) + 1}) //nolint:gosec // a few
}

// nonce is how many transactions an account sent.
func (n *Node) nonce(of common.Address) (uint64, error) {
	s, err := n.eth.BlockChain().State()
	if err != nil {
		return 0, err
	}
	return s.GetNonce(of), nil
}

// Card says where a rollup's contracts stand and by which terms it runs.
type Card struct {
	rollup.Addresses
	Messenger2 common.Address `json:"l2CrossDomainMessenger"`
	Bridge2    common.Address `json:"l2StandardBridge"`
	Factory    common.Address `json:"optimismMintableERC20Factory"`
	Passer     common.Address `json:"l2ToL1MessagePasser"`
	Fees       common.Address `json:"gasPriceOracle"`
	Every      uint64         `json:"every"`
	Challenge  uint64         `json:"challengeSeconds"`
}

// errNoRollup: a lever of rollups was moved on a chain that is none.
var errNoRollup = errors.New("the chain is no rollup")

func (n *Node) card() (Card, error) {
	if n.up == nil {
		return Card{}, errNoRollup
	}
	return Card{
		Addresses: n.up.at, Messenger2: rollup.Messenger, Bridge2: rollup.Bridge, Factory: rollup.Factory,
		Passer: rollup.Passer, Fees: rollup.Fees, Every: n.up.terms.Every, Challenge: n.up.terms.Challenge,
	}, nil
}
