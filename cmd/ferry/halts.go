package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/office"
	"ferry/internal/serve"
	"ferry/internal/store"
)

type haltsCmd struct {
	DB   string `name:"db" required:"" placeholder:"URL" help:"The database: sqlite:PATH or postgres://…"`
	JSON bool   `name:"json" help:"Print one object, for machines."`
}

// Help implements kong's longer help.
func (*haltsCmd) Help() string {
	return `A chain is halted when it took back what was believed final, or when somebody else spent from our wallet.
Nothing new is paid from it until an operator has looked and resumed it.

Examples:
  ferry halts --db postgres://localhost/ferry
  ferry halts --db sqlite:ferry.db --json`
}

// haltView is a halt as machines read it.
type haltView struct {
	Chain string    `json:"chain"`
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// withHalts opens a database and does something about its halted chains.
func withHalts(ctx context.Context, url string, do func(*store.DB, []store.Halt) error) (err error) {
	db, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	halts, err := db.Halts(ctx)
	if err != nil {
		return err
	}
	return do(db, halts)
}

// Run shows the halted chains.
func (c *haltsCmd) Run(ctx context.Context, out *output) error {
	return withHalts(ctx, c.DB, func(_ *store.DB, halts []store.Halt) error {
		if c.JSON {
			views := []haltView{}
			for _, h := range halts {
				views = append(views, haltView{string(h.Chain), h.At, h.Why})
			}
			return json.NewEncoder(out.Out).Encode(map[string]any{"halts": views})
		}
		if len(halts) == 0 {
			fmt.Fprintln(out.Out, "no chain is halted")
		}
		for _, h := range halts {
			fmt.Fprintf(out.Out, "%s  since %s  %s\n", h.Chain, h.At.Format(time.RFC3339), h.Why)
		}
		return nil
	})
}

type resumeCmd struct {
	DB    string `name:"db" required:"" placeholder:"URL" help:"The database: sqlite:PATH or postgres://…"`
	Chain string `arg:"" help:"The chain to let go on, as ferry halts names it."`
}

// Help implements kong's longer help.
func (*resumeCmd) Help() string {
	return `Look first: find out what happened to the chain, and compare the wallets with the books.

Example:
  ferry resume --db postgres://localhost/ferry eip155:1`
}

// Run lifts a halt.
func (c *resumeCmd) Run(ctx context.Context, out *output) error {
	return withHalts(ctx, c.DB, func(db *store.DB, _ []store.Halt) error {
		if err := office.New(db, serve.Addresses{}, time.Now).ResumeChain(ctx, chain.ID(c.Chain), localName()); err != nil {
			return err
		}
		fmt.Fprintf(out.Out, "chain %s goes on\n", c.Chain)
		return nil
	})
}
