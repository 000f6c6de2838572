package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ferry/internal/chain"
)

// How the local rollup tells its state below: soon, and believed soon, where a public
// one takes an hour and a week.
const (
	rollupEvery     = 4  // blocks
	rollupChallenge = 20 // seconds
)

// Rollup is the canonical bridge between the two local EVM chains: Base is a rollup of
// Ethereum.
type Rollup struct {
	Portal     string `json:"optimismPortal"`
	Oracle     string `json:"l2OutputOracle"`
	Messenger  string `json:"l1CrossDomainMessenger"`
	Bridge     string `json:"l1StandardBridge"`
	Messenger2 string `json:"l2CrossDomainMessenger"`
	Bridge2    string `json:"l2StandardBridge"`
	Passer     string `json:"l2ToL1MessagePasser"`
	Fees       string `json:"gasPriceOracle"`
	// Token of Ethereum, and the one on Base that stands for it.
	Token  string `json:"token"`
	Token2 string `json:"token2"`
}

// rollup reports whether a chain is the rollup of this network.
func (l *local) rollup(id chain.ID) bool {
	return id == Base && l.state.Rollup != nil
}

// openBase starts Base: as a rollup, where Ethereum runs too.
func (l *local) openBase(ctx context.Context, isNew bool) error {
	if isNew && l.wanted(Ethereum) {
		l.state.Rollup = &Rollup{}
	}
	if err := l.openEVM(ctx, Base, "base", isNew); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	if !l.rollup(Base) {
		return nil
	}
	g, ok := l.net.grounds[Base].(evmNode)
	if !ok {
		return errors.New("base: it has no node of its own")
	}
	l.net.rollup = l.state.Rollup
	if !isNew {
		return nil
	}
	if err := g.on.Do(ctx, "rollup", struct{}{}, l.state.Rollup); err != nil {
		return err
	}
	token := string(l.state.Tokens[Ethereum])
	var made struct {
		Address string `json:"address"`
	}
	in := map[string]any{"below": token, "name": "USD Coin (bridged)", "symbol": "USDC", "decimals": 6}
	if err := g.on.Do(ctx, "pair", in, &made); err != nil {
		return err
	}
	l.state.Rollup.Token, l.state.Rollup.Token2 = token, made.Address
	return g.mine(ctx, 1)
}

// specOf is what an EVM chain is asked to be.
func (l *local) specOf(id chain.ID) map[string]any {
	_, text, _ := strings.Cut(string(id), ":")
	spec := map[string]any{"chainId": json.Number(text), "finalDepth": localDepth}
	if l.rollup(id) {
		spec["rollup"] = map[string]any{"of": l.opts.Prefix + "ethereum", "every": rollupEvery, "challengeSeconds": rollupChallenge}
	}
	return spec
}
