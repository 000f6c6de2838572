package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ferry/internal/dev"
	"ferry/internal/devnet"
	"ferry/internal/front"
)

// devData is where a network is if nobody says.
const devData = ".ferry-dev"

type devCmd struct {
	Start  devStartCmd  `cmd:"" default:"withargs" help:"Start the network (the default)."`
	Pay    devPayCmd    `cmd:"" help:"Pay an order on the network that runs."`
	Mine   devMineCmd   `cmd:"" help:"Make blocks of a chain at once."`
	Faucet devFaucetCmd `cmd:"" help:"Send money that is worth nothing to any address of a chain."`
	Reorg  devReorgCmd  `cmd:"" help:"Replace the newest blocks of a chain by empty ones: what stood in them waits again."`
}

// Help implements kong's longer help.
func (*devCmd) Help() string {
	return `Starts a whole service on this machine: two Ethereum chains, a Bitcoin chain and a Solana chain as real local
nodes that make a block each second, a treasury, the API, the operators' API and a demo integrator with both kinds of
keys. The EVM chains have Uniswap's pools (where npm is) and native bridges between them. The nodes are built from the
source tree, which takes some minutes the first time. Nothing in it is worth anything. It goes on where it stopped;
--fresh starts over.

With --simulated the chains are simulated in the process: it starts at once, needs no source tree, and begins anew.

Examples:
  ferry dev
  ferry dev --fresh
  ferry dev --simulated
  ferry dev --data /tmp/ferry --listen 127.0.0.1:9000 --json
  ferry dev pay ord_…
  ferry dev pay ord_… --amount 50000
  ferry dev faucet ethereum 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed 1000000 --token USDC
  ferry dev mine bitcoin 6
  ferry dev reorg ethereum 2`
}

type devStartCmd struct {
	Data           string `name:"data" default:".ferry-dev" help:"Folder of the network; its database is made anew."`
	Listen         string `name:"listen" default:"127.0.0.1:8080" help:"Address of the API."`
	OperatorListen string `name:"operator-listen" default:"127.0.0.1:0" help:"Address of the operators' API; port 0 takes a free one."`
	JSON           bool   `name:"json" help:"Print one line of JSON when everything answers, for scripts."`
	Fresh          bool   `name:"fresh" help:"Start over: remove what an earlier network left in the folder."`
	Simulated      bool   `name:"simulated" help:"Simulate the chains instead of running real nodes."`
}

// Run starts the network and serves until it is interrupted.
func (c *devStartCmd) Run(ctx context.Context, out *output) error {
	log := slog.New(slog.NewJSONHandler(out.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	version, _ := build()
	front.Roomy()
	local, err := c.local(out)
	if err != nil {
		return err
	}
	d, err := dev.New(ctx, dev.Options{Dir: c.Data, Listen: c.Listen, Operator: c.OperatorListen, Version: version, Log: log, Local: local})
	if err != nil {
		return err
	}
	return d.Run(ctx, func() { c.show(out, d) })
}

// local is how real nodes are run; nil simulates them.
func (c *devStartCmd) local(out *output) (*dev.Local, error) {
	if c.Simulated {
		return nil, nil
	}
	root, err := devnet.Root(".")
	if err != nil {
		return nil, fmt.Errorf("%w; or simulate the chains with --simulated", err)
	}
	began := time.Now()
	return &dev.Local{Root: root, Fresh: c.Fresh, Log: out.Err, Say: func(line string) {
		fmt.Fprintf(out.Err, "%6.1fs  %s\n", time.Since(began).Seconds(), line)
	}}, nil
}

func (c *devStartCmd) show(out *output, d *dev.Dev) {
	card := d.Card
	if c.JSON {
		_ = json.NewEncoder(out.Out).Encode(card) // whoever reads it may be gone
		return
	}
	keys := fmt.Sprintf("  server key        %s\n  public key        %s\n  operator's token  %s", card.ServerKey, card.PublicKey, card.OperatorToken)
	if d.Kept {
		keys = "  keys              as at the first start; they are in " + filepath.Join(c.Data, "dev.json")
	}
	fmt.Fprintf(out.Out, `Ferry runs on %s.

  API               %s
  reference         %s/docs
  operators' API    %s

  integrator        %s (Demo Wallet)
%s

  treasury
%s
Ask for a price of 0.01 BTC in ETH:

  curl -s %s/v2/quotes -H 'Content-Type: application/json' \
    -d '{"fromChainId":"bitcoin","fromToken":"native","toChainId":"ethereum","toToken":"native","amount":"1000000"}'
%s
Make an order of it (POST /v2/orders), then pay it:  ferry dev pay ORDER%s
Money for any address:                               ferry dev faucet bitcoin ADDRESS 100000%s
Stop with Ctrl-C.
`, strings.Join(d.Names(), ", "), card.API, card.API, card.OperatorAPI, card.IntegratorID, keys, wallets(card), card.API, more(d), c.folder(), c.folder())
}

// more is what can be asked for where there are pools and bridges.
func more(d *dev.Dev) string {
	var b strings.Builder
	ask := func(what, path, body string) {
		fmt.Fprintf(&b, "\n%s:\n\n  curl -s %s%s -H 'Content-Type: application/json' \\\n    -d '%s'\n", what, d.Card.API, path, body)
	}
	on := d.Card.Tokens["ethereum"]
	if token := on[dev.Pooled]; token != "" {
		ask("In "+dev.Pooled+", which only Uniswap's pools trade", "/v2/quotes",
			`{"fromChainId":"bitcoin","fromToken":"native","toChainId":"ethereum","toToken":"`+token+`","amount":"1000000"}`)
	}
	if d.Bridged(dev.DollarBridge) {
		ask("Or 40 USDC over CCTP, a native bridge", "/v2/bridges/quotes", fmt.Sprintf(
			`{"bridgeId":"%s","fromChainId":"ethereum","fromToken":"%s","toChainId":"base","toToken":"%s","amount":"40000000"}`,
			dev.DollarBridge, on["USDC"], d.Card.Tokens["base"]["USDC"]))
	}
	return b.String()
}

// folder is how other commands are told where the network is, if it is not where they
// look by themselves.
func (c *devStartCmd) folder() string {
	if c.Data == devData {
		return ""
	}
	return " --data " + c.Data
}

// wallets are the addresses that pay, with the tokens of their chains.
func wallets(card dev.Card) string {
	var b strings.Builder
	for _, chain := range card.Chains {
		fmt.Fprintf(&b, "  %-17s %s\n", "  "+chain, card.Wallets[chain])
		for _, symbol := range slices.Sorted(maps.Keys(card.Tokens[chain])) {
			if token := card.Tokens[chain][symbol]; token != "native" {
				fmt.Fprintf(&b, "  %-17s %s\n", "    "+symbol, token)
			}
		}
	}
	return b.String()
}

type devPayCmd struct {
	Order  string `arg:"" help:"The order's id."`
	Amount string `name:"amount" placeholder:"UNITS" help:"Pay so many smallest units instead of what the order asks for."`
	Data   string `name:"data" default:".ferry-dev" help:"Folder of the network."`
	JSON   bool   `name:"json" help:"Print one object, for machines."`
}

// Run pays an order.
func (c *devPayCmd) Run(ctx context.Context, out *output) error {
	card, err := dev.ReadCard(c.Data)
	if err != nil {
		return err
	}
	paid, err := dev.Pay(ctx, card, c.Order, c.Amount)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(paid)
	}
	_, err = fmt.Fprintf(out.Out, "Paid %s smallest units to order %s in transaction %s.\n", paid.Amount, paid.Order, paid.TxHash)
	return err
}

type devMineCmd struct {
	Chain  string `arg:"" help:"How callers name the chain, such as bitcoin."`
	Blocks int    `arg:"" optional:"" default:"1" help:"How many."`
	Data   string `name:"data" default:".ferry-dev" help:"Folder of the network."`
	JSON   bool   `name:"json" help:"Print one object, for machines."`
}

// Run makes blocks.
func (c *devMineCmd) Run(ctx context.Context, out *output) error {
	return moving{do: dev.Mine, said: "Made %d blocks of %s.\n", json: c.JSON}.run(ctx, out, c.Data, dev.Move{Chain: c.Chain, Blocks: c.Blocks})
}

type devReorgCmd struct {
	Chain string `arg:"" help:"How callers name the chain, such as ethereum."`
	Depth int    `arg:"" optional:"" default:"1" help:"How many blocks are replaced."`
	Data  string `name:"data" default:".ferry-dev" help:"Folder of the network."`
	JSON  bool   `name:"json" help:"Print one object, for machines."`
}

// Run replaces blocks.
func (c *devReorgCmd) Run(ctx context.Context, out *output) error {
	return moving{do: dev.Reorg, said: "Replaced the newest %d blocks of %s.\n", json: c.JSON}.run(ctx, out, c.Data, dev.Move{Chain: c.Chain, Blocks: c.Depth})
}

// moving is a lever that moves the blocks of a chain, and how that is told.
type moving struct {
	do   func(ctx context.Context, c dev.Card, m dev.Move) error
	said string // with the number of blocks and the chain
	json bool
}

func (v moving) run(ctx context.Context, out *output, data string, m dev.Move) error {
	card, err := dev.ReadCard(data)
	if err != nil {
		return err
	}
	if err := v.do(ctx, card, m); err != nil {
		return err
	}
	if v.json {
		return json.NewEncoder(out.Out).Encode(m)
	}
	_, err = fmt.Fprintf(out.Out, v.said, m.Blocks, m.Chain)
	return err
}

type devFaucetCmd struct {
	Chain   string `arg:"" help:"How callers name the chain, such as bitcoin."`
	Address string `arg:"" help:"Who gets it."`
	Amount  string `arg:"" help:"How many smallest units."`
	Token   string `name:"token" default:"native" help:"The token's symbol or name there."`
	Data    string `name:"data" default:".ferry-dev" help:"Folder of the network."`
	JSON    bool   `name:"json" help:"Print one object, for machines."`
}

// Run sends money.
func (c *devFaucetCmd) Run(ctx context.Context, out *output) error {
	card, err := dev.ReadCard(c.Data)
	if err != nil {
		return err
	}
	given, err := dev.Faucet(ctx, card, dev.Gift{Chain: c.Chain, Token: c.Token, Address: c.Address, Amount: c.Amount})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(given)
	}
	_, err = fmt.Fprintf(out.Out, "Sent %s smallest units of %s on %s in transaction %s.\n", given.Amount, c.Token, c.Chain, given.TxHash)
	return err
}
