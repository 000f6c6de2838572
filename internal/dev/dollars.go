package dev

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/desk"
	bridges "ferry/internal/devnet/cctp"
	"ferry/internal/family/evm"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/venue/cctp"
)

// domains are the numbers that the EVM chains have in the bridge of dollars, as in the
// world.
var domains = map[chain.ID]uint32{Ethereum: 0, Base: 6}

// faucet is the key of local chains that has all the money, as their node makes it.
const faucet = "ferry local chain: faucet"

// Settings of the local bridge of dollars.
const (
	attesters    = 2
	attestedIn   = 5 * time.Second
	dollarFee    = 2 * money.Dollar
	deployerEach = "10000000000000000000"
)

// dollarSpec is the bridge between the EVM chains.
func (l *local) dollarSpec() (bridges.Spec, error) {
	digest := sha256.Sum256([]byte("maker of dollars of " + l.state.Seed))
	key, err := crypto.ToECDSA(digest[:])
	if err != nil {
		return bridges.Spec{}, err
	}
	rich, err := crypto.ToECDSA(crypto.Keccak256([]byte(faucet)))
	if err != nil {
		return bridges.Spec{}, err
	}
	s := bridges.Spec{
		Key: key, Threshold: attesters, Limit: big.NewInt(1_000_000_000_000), Minters: []common.Address{crypto.PubkeyToAddress(rich.PublicKey)},
		Sides: []bridges.Side{{RPC: l.rpcs[Ethereum], Domain: domains[Ethereum]}, {RPC: l.rpcs[Base], Domain: domains[Base]}},
	}
	for _, k := range attesterKeys() {
		s.Attesters = append(s.Attesters, crypto.PubkeyToAddress(k.PublicKey))
	}
	return s, nil
}

func attesterKeys() []*ecdsa.PrivateKey { return bridges.Keys(attesters) }

// dollar makes the dollar of an EVM chain: one that CCTP carries, where both chains are
// there, and otherwise one that stays. The faucet makes both, also for who fills pools.
func (l *local) dollar(ctx context.Context, id chain.ID, g evmNode) (string, error) {
	if !l.wanted(Ethereum) || !l.wanted(Base) {
		token, err := evm.TestTokenCode("USD Coin (local)", "USDC", 6)
		if err != nil {
			return "", err
		}
		return g.deploy(ctx, token)
	}
	s, err := l.dollarSpec()
	if err != nil {
		return "", err
	}
	maker := crypto.PubkeyToAddress(s.Key.PublicKey)
	if _, err := g.pay(ctx, chain.CanonicalAddress(chain.EVM, strings.ToLower(maker.Hex())), id.Native(), money.MustParse(deployerEach)); err != nil {
		return "", err
	}
	mine := func(ctx context.Context) error { return g.mine(ctx, 1) }
	if err := mine(ctx); err != nil {
		return "", err
	}
	c, err := bridges.DeployOn(ctx, s, bridges.Side{RPC: l.rpcs[id], Domain: domains[id], Mine: mine})
	if err != nil {
		return "", fmt.Errorf("dollars: %w", err)
	}
	l.state.Dollars = true
	return strings.ToLower(c.USDC.Hex()), nil
}

// dollars are the settings of the bridge.
func (l *local) dollars(ctx context.Context) (cctp.Config, error) {
	s, err := l.dollarSpec()
	if err != nil {
		return cctp.Config{}, err
	}
	at, on := bridges.At(s.Key), func(x common.Address) chain.Address {
		return chain.CanonicalAddress(chain.EVM, strings.ToLower(x.Hex()))
	}
	cfg := cctp.Config{
		Service: money.Whole / 1000, Min: money.FromUint64(1_000_000), Max: money.FromUint64(100_000_000_000), Poll: bridgePoll, Fresh: 10 * time.Second,
	}
	for _, id := range []chain.ID{Ethereum, Base} {
		own, err := l.hot(ctx, id)
		if err != nil {
			return cctp.Config{}, err
		}
		cfg.Domains = append(cfg.Domains, cctp.Domain{
			Chain: id, Number: domains[id], Token: chain.Asset{Chain: id, Ref: string(l.state.Tokens[id])}, Messenger: on(at.Messenger),
			Transmitter: on(at.Transmitter), Own: own, Attested: attestedIn,
		})
	}
	return cfg, nil
}

// gas prices the gas of local chains, whose prices stand still.
type gas struct{ l *local }

// Gas implements cctp.Gas, by what a plain payment costs now.
func (g gas) Gas(ctx context.Context, on chain.ID, units uint64, in chain.Asset, _ time.Time) (money.Amount, error) {
	const plain = 21_000
	for _, c := range g.l.net.chains {
		if c.ID != on {
			continue
		}
		cost, err := c.Sender.Cost(ctx, chain.Call{Chain: on, From: "hot", To: c.Own, Asset: on.Native(), Amount: money.FromUint64(1)})
		if err != nil {
			return cost, err
		}
		// Wei become millionths of a dollar at 3000 dollars a coin.
		if cost, err = cost.MulDiv(money.FromUint64(units*3000), money.FromUint64(plain), money.Up); err != nil {
			return cost, err
		}
		return cost.MulDiv(money.FromUint64(1), money.FromUint64(1_000_000_000_000), money.Up)
	}
	return money.Amount{}, fmt.Errorf("gas of %s in %s: there is no such chain", on, in)
}

// bridgeDollars offers the bridge of dollars, for owners to run and by the service.
func (l *local) bridgeDollars(ctx context.Context) error {
	s, err := l.dollarSpec()
	if err != nil {
		return err
	}
	if l.net.attester, err = newAttester(bridges.NewAttester(s, attesterKeys(), localDepth)); err != nil {
		return err
	}
	iris, err := cctp.NewIris(l.net.attester.url(), l.now)
	if err != nil {
		return err
	}
	read := map[chain.ID]cctp.Chain{}
	for _, c := range l.net.chains {
		if on, ok := c.Reader.(cctp.Chain); ok {
			read[c.ID] = on
		}
	}
	cfg, err := l.dollars(ctx)
	if err != nil {
		return err
	}
	v, err := cctp.New(cfg, read, iris, gas{l})
	if err != nil {
		return err
	}
	slug := map[chain.ID]string{Ethereum: "ethereum", Base: "base"}
	for _, way := range [][2]chain.ID{{Ethereum, Base}, {Base, Ethereum}} {
		is, err := v.Offered(way[0], way[1])
		if err != nil {
			return err
		}
		is.ID, is.Name = "cctp_"+slug[way[0]]+"_"+slug[way[1]], "CCTP from "+slug[way[0]]+" to "+slug[way[1]]
		fee := money.USD(dollarFee)
		terms := desk.BridgeTerms{Version: 1, EffectiveAt: time.Unix(0, 0).UTC(), Claim: &fee}
		terms.Min, terms.Max = v.Limits()
		l.net.bridges = append(l.net.bridges, front.Bridge{Bridge: is, Run: v, Terms: terms})
		done, err := v.Performed(way[0], way[1])
		if err != nil {
			return err
		}
		done.ID, done.Name = is.ID+"_managed", is.Name+", performed by the service"
		terms.Claim, terms.FeePercent = nil, money.Whole/1000
		l.net.bridges = append(l.net.bridges, front.Bridge{Bridge: done, Perform: v, Terms: terms})
	}
	return nil
}

// DollarBridge is the bridge of dollars to Base, performed by the service.
const DollarBridge = "cctp_ethereum_base_managed"

// attester serves attestations on this machine.
type attester struct {
	on   net.Listener
	http http.Server
}

func newAttester(h http.Handler) (*attester, error) {
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("attester: %w", err)
	}
	return &attester{on: on, http: http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}}, nil
}

func (a *attester) url() string { return "http://" + a.on.Addr().String() }

// run answers until ctx ends.
func (a *attester) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = a.http.Close() })
	defer stop()
	if err := a.http.Serve(a.on); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("attester: %w", err)
	}
	return nil
}
