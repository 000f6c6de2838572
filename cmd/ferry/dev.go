package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"ferry/internal/dev"
	"ferry/internal/front"
)

type devCmd struct {
	Start devStartCmd `cmd:"" default:"withargs" help:"Start the network (the default)."`
	Pay   devPayCmd   `cmd:"" help:"Pay an order on the network that runs."`
	Mine  devMineCmd  `cmd:"" help:"Make blocks of a chain at once."`
	Reorg devReorgCmd `cmd:"" help:"Replace the newest blocks of a chain by empty ones: what stood in them waits again."`
}

// Help implements kong's longer help.
func (*devCmd) Help() string {
	return `Starts a whole service on this machine: simulated Ethereum, Bitcoin and Solana chains that make a block
each second, a treasury, the API, the operators' API and a demo integrator with both kinds of keys.
Nothing in it is worth anything, and every start begins anew.

Examples:
  ferry dev
  ferry dev --data /tmp/ferry --listen 127.0.0.1:9000 --json
  ferry dev pay ord_…
  ferry dev pay ord_… --amount 50000
  ferry dev mine bitcoin 6
  ferry dev reorg ethereum 2`
}

type devStartCmd struct {
	Data           string `name:"data" default:".ferry-dev" help:"Folder of the network; its database is made anew."`
	Listen         string `name:"listen" default:"127.0.0.1:8080" help:"Address of the API."`
	OperatorListen string `name:"operator-listen" default:"127.0.0.1:0" help:"Address of the operators' API; port 0 takes a free one."`
	JSON           bool   `name:"json" help:"Print one line of JSON when everything answers, for scripts."`
}

// Run starts the network and serves until it is interrupted.
func (c *devStartCmd) Run(ctx context.Context, out *output) error {
	log := slog.New(slog.NewJSONHandler(out.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	version, _ := build()
	front.Roomy()
	d, err := dev.New(ctx, dev.Options{Dir: c.Data, Listen: c.Listen, Operator: c.OperatorListen, Version: version, Log: log})
	if err != nil {
		return err
	}
	return d.Run(ctx, func() { c.show(out, d.Card) })
}

func (c *devStartCmd) show(out *output, card dev.Card) {
	if c.JSON {
		_ = json.NewEncoder(out.Out).Encode(card) // whoever reads it may be gone
		return
	}
	fmt.Fprintf(out.Out, `Ferry runs on simulated chains: Ethereum, Bitcoin and Solana.

  API               %s
  reference         %s/docs
  operators' API    %s

  integrator        %s (Demo Wallet)
  server key        %s
  public key        %s
  operator's token  %s

Ask for a price of 0.01 BTC in SOL:

  curl -s %s/v2/quotes -H 'Content-Type: application/json' \
    -d '{"fromChainId":"bitcoin","fromToken":"native","toChainId":"solana","toToken":"native","amount":"1000000"}'

Make an order of it (POST /v2/orders), then pay it:  ferry dev pay ORDER --data %s
Stop with Ctrl-C.
`, card.API, card.API, card.OperatorAPI, card.IntegratorID, card.ServerKey, card.PublicKey, card.OperatorToken, card.API, c.Data)
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
	move := dev.Move{Chain: c.Chain, Blocks: c.Blocks}
	card, err := dev.ReadCard(c.Data)
	if err == nil {
		err = dev.Mine(ctx, card, move)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(move)
	}
	_, err = fmt.Fprintf(out.Out, "Made %d blocks of %s.\n", c.Blocks, c.Chain)
	return err
}

type devReorgCmd struct {
	Chain string `arg:"" help:"How callers name the chain, such as ethereum."`
	Depth int    `arg:"" optional:"" default:"1" help:"How many blocks are replaced."`
	Data  string `name:"data" default:".ferry-dev" help:"Folder of the network."`
	JSON  bool   `name:"json" help:"Print one object, for machines."`
}

// Run replaces blocks.
func (c *devReorgCmd) Run(ctx context.Context, out *output) error {
	move := dev.Move{Chain: c.Chain, Blocks: c.Depth}
	card, err := dev.ReadCard(c.Data)
	if err == nil {
		err = dev.Reorg(ctx, card, move)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(move)
	}
	_, err = fmt.Fprintf(out.Out, "Replaced the newest %d blocks of %s.\n", c.Depth, c.Chain)
	return err
}
