package dev

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
)

// Chains of a local network, beside Ethereum and Bitcoin, whose names are those of the
// simulated ones.
const (
	// Base is the second EVM chain.
	Base chain.ID = "eip155:31338"
	// twin is a second Bitcoin chain.
	twin chain.ID = "bip122:0f9188f13cb7b2c71f2a335e3a4fc329"
	// localDepth is how many blocks make one final on local chains.
	localDepth = 2
	// solanaDepth is the same for Solana, whose blocks come faster.
	solanaDepth = 4
	solanaPause = 400 // milliseconds between its blocks
)

// holdings are what the treasury of a local network has, in whole units.
var holdings = map[string]struct {
	decimals    int
	price, each string
}{
	"ETH": {18, "3000", "500"}, "USDC": {6, "1", "1000000"}, "BTC": {8, "90000", "50"}, "SOL": {9, "150", "10000"},
}

// hold lists an asset of the network with what the treasury has of it.
func (l *local) hold(x chain.Asset, symbol string, dust uint64) {
	h := holdings[symbol]
	l.net.assets = append(l.net.assets, asset{
		market.Asset{Asset: x, Symbol: symbol, Decimals: h.decimals, Dust: money.FromUint64(dust)}, h.price, h.each,
	})
}

// setupEVM makes the contracts of an EVM chain.
func (l *local) setupEVM(ctx context.Context, id chain.ID, g evmNode) error {
	hot, err := l.hot(ctx, id)
	if err != nil {
		return err
	}
	if id == Ethereum { // in its first block: those after it are ahead of the clock, and nobody believes a word of tomorrow
		if err := l.setupFeeds(ctx, g); err != nil {
			return err
		}
	}
	token, err := l.dollar(ctx, id, g)
	if err != nil {
		return err
	}
	home := common.HexToAddress(hot.Text())
	made := make([]string, 2)
	for i, code := range [][]byte{evm.SweeperCode(home), evm.IntakeCode(home)} {
		if made[i], err = g.deploy(ctx, code); err != nil {
			return err
		}
	}
	l.state.Tokens[id], l.state.Sweepers[id], l.state.Intakes[id] = ref(token), made[0], made[1]
	return g.mine(ctx, 1)
}

// deploy makes a contract, in the next block.
func (g evmNode) deploy(ctx context.Context, code []byte) (string, error) {
	var out struct {
		Address string `json:"address"`
	}
	if err := g.on.Do(ctx, "deploy", map[string]string{"data": "0x" + hex.EncodeToString(code)}, &out); err != nil {
		return "", fmt.Errorf("make a contract: %w", err)
	}
	return out.Address, nil
}

// setupSolana makes the token of a Solana chain.
func (l *local) setupSolana(ctx context.Context, id chain.ID, g solanaNode) error {
	var out struct {
		Mint string `json:"mint"`
	}
	if err := g.on.Do(ctx, "token", map[string]any{"name": "USDC", "decimals": 6}, &out); err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	l.state.Tokens[id] = ref(out.Mint)
	return g.mine(ctx, 1)
}

func (l *local) hot(ctx context.Context, id chain.ID) (chain.Address, error) {
	return l.keys.Address(ctx, id, chain.Key{Account: order.HotWallet})
}

// fund gives the treasury its money, on the chains and in the books.
func (l *local) fund(ctx context.Context) error {
	for _, a := range l.net.assets {
		x := a.Asset.Asset
		if _, simulated := l.net.grounds[x.Chain].(*simGround); simulated {
			continue // it has its money
		}
		if a.has == "" {
			continue // it is never ours
		}
		hot, err := l.hot(ctx, x.Chain)
		if err != nil {
			return err
		}
		whole, err := money.ParseDecimal(a.has, a.Decimals)
		if err != nil {
			return err
		}
		if err := l.give(ctx, hot, x, whole); err != nil {
			return fmt.Errorf("fund %s: %w", x, err)
		}
		if err := l.db.Fund(ctx, x, whole, l.now()); err != nil {
			return fmt.Errorf("book the fund of %s: %w", x, err)
		}
	}
	for id, g := range l.net.grounds {
		if err := g.mine(ctx, 2*solanaDepth); err != nil {
			return fmt.Errorf("chain %s: %w", id, err)
		}
	}
	return nil
}

// give pays the hot wallet; on a chain of coins in many of them, so that many payments
// can be on their way at once.
func (l *local) give(ctx context.Context, hot chain.Address, x chain.Asset, whole money.Amount) error {
	g := l.net.grounds[x.Chain]
	btc, coins := g.(bitcoinNode)
	if !coins {
		_, err := g.pay(ctx, hot, x, whole)
		return err
	}
	part, err := whole.MulDiv(money.FromUint64(1), money.FromUint64(treasuryCoins), money.Down)
	if err != nil {
		return err
	}
	outs := make([]map[string]any, treasuryCoins)
	for i := range outs {
		outs[i] = map[string]any{"address": hot.Text(), "amount": number(part)}
	}
	return btc.on.Do(ctx, "pay", map[string]any{"outs": outs}, nil)
}
