package opbridge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/contract"
)

// Config is where a rollup's contracts stand on the chain below. Above they stand where
// they do on every rollup of its kind.
type Config struct {
	Below, Above chain.ID
	// Portal, Messenger and Bridge are OptimismPortal, L1CrossDomainMessenger and
	// L1StandardBridge.
	Portal, Messenger, Bridge chain.Address
	// Oracle is the L2OutputOracle, or Games the DisputeGameFactory: exactly one of them.
	Oracle, Games chain.Address
	// Registry is, beside games, the AnchorStateRegistry, if it is the one that keeps
	// which games are never believed; zero is that the portal itself does, as it did once.
	Registry chain.Address
	// Gas is what the bridge on the other side is given at least; zero is what it takes
	// with room.
	Gas uint32
}

// Contracts are what a signer must let our account call for claims: the portal alone, by
// methods that pay nobody but whom the withdrawal names, and nothing of ours.
func (c Config) Contracts() map[chain.ID][]chain.Contract {
	const withdrawal = "(uint256,address,address,uint256,uint256,bytes)"
	return map[chain.ID][]chain.Contract{c.Below: {{Address: c.Portal, Methods: []chain.Method{
		{Signature: "proveWithdrawalTransaction(" + withdrawal + ",uint256,(bytes32,bytes32,bytes32,bytes32),bytes[])"},
		{Signature: "finalizeWithdrawalTransaction(" + withdrawal + ")"},
		{Signature: "finalizeWithdrawalTransactionExternalProof(" + withdrawal + ",address)"},
	}}}}
}

// enough is what a bridge takes to pay a transfer out, with room.
const enough = 200_000

// Where contracts stand on every rollup.
var (
	messengerAbove = common.HexToAddress("0x4200000000000000000000000000000000000007")
	bridgeAbove    = common.HexToAddress("0x4200000000000000000000000000000000000010")
	passerAbove    = common.HexToAddress("0x4200000000000000000000000000000000000016")
)

// What may be wrong.
var (
	// ErrNotFinal: what is asked about may be orphaned yet, or is not there at all.
	ErrNotFinal = errors.New("opbridge: the transaction is not final")
	// ErrForeign: the transaction is final and is nothing of this bridge.
	ErrForeign = errors.New("opbridge: the transaction did nothing with this bridge")
	// ErrOutput: what was told below of the rollup is not what our nodes have.
	ErrOutput = errors.New("opbridge: what was told below is not the state of the rollup")
	// ErrNoOutput: nothing was told below yet by which it could be proven.
	ErrNoOutput = errors.New("opbridge: no state of the rollup that has it was told below yet")
	// ErrAnswer: a contract answered what it never answers.
	ErrAnswer = errors.New("opbridge: a contract answers what can not be read")
)

// Bridge is one rollup's bridge.
type Bridge struct {
	cfg   Config
	below Below
	above Above
	roots roots

	portal, messenger, bridge common.Address
}

// New makes a bridge. It asks nobody.
func New(cfg Config, below Below, above Above) (*Bridge, error) {
	if cfg.Gas == 0 {
		cfg.Gas = enough
	}
	b := &Bridge{cfg: cfg, below: below, above: above}
	if cfg.Below == "" || cfg.Above == "" || cfg.Below == cfg.Above {
		return nil, fmt.Errorf("bridge from %q to %q: name two chains", cfg.Below, cfg.Above)
	}
	for _, one := range []struct {
		name string
		from chain.Address
		into *common.Address
	}{{"portal", cfg.Portal, &b.portal}, {"messenger", cfg.Messenger, &b.messenger}, {"bridge", cfg.Bridge, &b.bridge}} {
		a, err := address(one.from)
		if err != nil {
			return nil, fmt.Errorf("%s of the bridge to %s: %w", one.name, cfg.Above, err)
		}
		*one.into = a
	}
	if cfg.Oracle.IsZero() == cfg.Games.IsZero() {
		return nil, fmt.Errorf("bridge to %s: write the oracle of its outputs, or the factory of its games, and not both", cfg.Above)
	}
	told := cfg.Oracle
	if told.IsZero() {
		told = cfg.Games
	}
	at, err := address(told)
	if err != nil {
		return nil, fmt.Errorf("where the state of %s is told: %w", cfg.Above, err)
	}
	registry := b.portal
	if !cfg.Registry.IsZero() {
		if registry, err = address(cfg.Registry); err != nil {
			return nil, fmt.Errorf("registry of the games of %s: %w", cfg.Above, err)
		}
	}
	ask := asker{b.below}
	if b.roots = roots(&oracle{ask: ask, at: at, portal: b.portal}); cfg.Oracle.IsZero() {
		b.roots = &games{ask: ask, at: at, portal: b.portal, registry: registry, truth: b.truth}
	}
	return b, nil
}

// ErrLinks: contracts of the configuration do not belong together.
var ErrLinks = errors.New("opbridge: the contracts do not belong together")

// Check asks at start whether the contracts name one another: a mistake in an address is
// found here, and not by a deposit.
func (b *Bridge) Check(ctx context.Context) error {
	told, link := b.cfg.Oracle, "l2Oracle"
	if told.IsZero() {
		told, link = b.cfg.Games, "disputeGameFactory"
	}
	for _, one := range []struct {
		on   Below
		of   common.Address
		link string
		want common.Address
	}{
		{b.below, b.bridge, "messenger", b.messenger},
		{b.below, b.bridge, "otherBridge", bridgeAbove},
		{b.below, b.messenger, "portal", b.portal},
		{b.below, b.messenger, "otherMessenger", messengerAbove},
		{b.below, b.portal, link, common.HexToAddress(told.Text())},
		{b.above, bridgeAbove, "otherBridge", b.bridge},
		{b.above, messengerAbove, "otherMessenger", b.messenger},
	} {
		head, err := one.on.Head(ctx)
		if err != nil {
			return err
		}
		v, err := ask(ctx, one.on, head.Final, question{linksABI, one.of, one.link, nil})
		if err != nil {
			return fmt.Errorf("bridge to %s: %w", b.cfg.Above, err)
		}
		if got := v[0].(common.Address); got != one.want {
			return fmt.Errorf("bridge to %s: %w: %s of %s is %s, and not %s", b.cfg.Above, ErrLinks, one.link, one.of, got, one.want)
		}
	}
	return nil
}

// ErrGames: the portal believes games of a kind that is not known here.
var ErrGames = errors.New("opbridge: the rollup tells its state in games of a kind that is not known here")

// gameKinds are the games whose claim is the root of one rollup: Cannon, the one of few,
// and Kona's. Those of super roots (4, 5, 7, 9) and of other makers are none of them.
var gameKinds = []uint32{0, 1, 8}

// CheckGames asks at start whether withdrawals can be proven by what is told below: a
// rollup may go over to games of another kind, and deposits go on all the same.
func (b *Bridge) CheckGames(ctx context.Context) error {
	if b.cfg.Games.IsZero() {
		return nil // an oracle has one kind
	}
	head, err := b.below.Head(ctx)
	if err != nil {
		return err
	}
	v, err := ask(ctx, b.below, head.Final, question{portal2ABI, b.portal, "respectedGameType", nil})
	if err != nil {
		return fmt.Errorf("bridge to %s: %w", b.cfg.Above, err)
	}
	if kind := v[0].(uint32); !slices.Contains(gameKinds, kind) {
		return fmt.Errorf("bridge to %s: %w: %d", b.cfg.Above, ErrGames, kind)
	}
	return nil
}

// Transfer is what a bridge carries.
type Transfer struct {
	// Token is the token on the chain below and Twin the one above; both are zero for
	// the chain's own coin.
	Token, Twin chain.Address
	From, To    chain.Address // on the chain where it begins, and where it ends
	Amount      money.Amount
}

// asset is what leaves a wallet on the chain below or above.
func (b *Bridge) asset(t Transfer, on chain.ID) chain.Asset {
	switch {
	case t.Token.IsZero():
		return on.Native()
	case on == b.cfg.Below:
		return chain.Asset{Chain: on, Ref: t.Token.Text()}
	}
	return chain.Asset{Chain: on, Ref: t.Twin.Text()}
}

// asker asks contracts of the chain below.
type asker struct{ below Below }

// ask asks a contract in the state of a block, and reads how many values the method has.
func (a asker) ask(ctx context.Context, at chain.Block, c abi.ABI, to common.Address, method string, args ...any) ([]any, error) {
	return ask(ctx, a.below, at, question{c, to, method, args})
}

// question is a question to a contract.
type question struct {
	c      abi.ABI
	to     common.Address
	method string
	args   []any
}

func ask(ctx context.Context, on Below, at chain.Block, q question) ([]any, error) {
	data, err := q.c.Pack(q.method, q.args...)
	if err != nil {
		return nil, err
	}
	answer, err := on.ViewAt(ctx, contract.Address(q.to), data, at)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", q.method, q.to, err)
	}
	out, err := q.c.Unpack(q.method, answer)
	if err != nil {
		return nil, fmt.Errorf("%w: %s of %s: %w", ErrAnswer, q.method, q.to, err)
	}
	return out, nil
}
