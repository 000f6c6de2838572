package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/money"
	"ferry/internal/serve"
	"ferry/internal/store"
	"ferry/internal/treasury"
)

type auditCmd struct {
	Config string `required:"" placeholder:"FILE" help:"The TOML file of the service."`
	Halt   bool   `name:"halt" help:"Halt every chain on which money is missing."`
	JSON   bool   `name:"json" help:"Print one object, for machines."`
}

// Help implements kong's longer help.
func (*auditCmd) Help() string {
	return `Compares the books with the chains, to the last unit: the wallet that pays, and what lies on deposit
addresses. Whatever is on its way explains a difference; one that nothing explains is named, and the
command ends with code 1. Amounts are in smallest units. The service does the same by itself.

Examples:
  ferry audit --config ferry.toml
  ferry audit --config ferry.toml --json --halt`
}

// errDiffers: an audit found what it can not explain.
var errDiffers = errors.New("the books and the chains differ, or could not be compared")

// Run audits.
func (c *auditCmd) Run(ctx context.Context, out *output) error {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	found, err := serve.Audit(ctx, cfg, c.Halt, serve.Options{Log: slog.New(slog.NewJSONHandler(out.Err, nil)), Ask: out.ask})
	if err != nil {
		return err
	}
	if err := showAudit(out.Out, found, c.JSON); err != nil {
		return err
	}
	if err := found.Unsound(); err != nil {
		return fmt.Errorf("%w:\n%w", errDiffers, err)
	}
	return nil
}

// Views of an audit, as machines read them.
type (
	auditView struct {
		Sound       bool        `json:"sound"`
		Chains      []chainView `json:"chains"`
		NotCompared []leftView  `json:"notCompared"`
	}
	chainView struct {
		Chain    string     `json:"chain"`
		Height   uint64     `json:"height"`
		Hash     string     `json:"hash"`
		Accounts []lineView `json:"accounts"`
	}
	lineView struct {
		Account     string       `json:"account"`
		Asset       string       `json:"asset"`
		Books       string       `json:"books"`
		Chain       string       `json:"chain"`
		Explained   []reasonView `json:"explained"`
		Unexplained string       `json:"unexplained"`
	}
	reasonView struct {
		What   string `json:"what"`
		Amount string `json:"amount"`
	}
	leftView struct {
		Chain string `json:"chain"`
		Why   string `json:"why"`
	}
)

func viewOf(a serve.Audited) auditView {
	v := auditView{Sound: a.Unsound() == nil, Chains: []chainView{}, NotCompared: []leftView{}}
	for _, f := range a.Findings {
		one := chainView{Chain: string(f.Chain), Height: f.At.Height, Hash: f.At.Hash, Accounts: []lineView{}}
		for _, l := range f.Lines {
			line := lineView{Account: l.Where, Asset: l.Asset.String(), Books: l.Books.String(), Chain: l.Chain.String(), Explained: []reasonView{}, Unexplained: l.Unexplained.String()}
			for _, r := range l.Reasons {
				line.Explained = append(line.Explained, reasonView{r.What, r.Amount.String()})
			}
			one.Accounts = append(one.Accounts, line)
		}
		v.Chains = append(v.Chains, one)
	}
	for _, l := range a.Left {
		v.NotCompared = append(v.NotCompared, leftView{string(l.Chain), l.Why})
	}
	return v
}

func showAudit(w io.Writer, a serve.Audited, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(viewOf(a))
	}
	for _, f := range a.Findings {
		fmt.Fprintf(w, "%s at height %d\n", f.Chain, f.At.Height)
		for _, l := range f.Lines {
			showLine(w, l)
		}
	}
	for _, l := range a.Left {
		fmt.Fprintf(w, "%s was not compared: %s\n", l.Chain, l.Why)
	}
	return nil
}

func showLine(w io.Writer, l treasury.Line) {
	fmt.Fprintf(w, "  %-8s  %s  books %s, chain %s", l.Where, l.Asset, l.Books, l.Chain)
	if l.Unexplained.Sign() != 0 {
		fmt.Fprintf(w, ", UNEXPLAINED %+d", l.Unexplained)
	}
	fmt.Fprintln(w)
	for _, r := range l.Reasons {
		fmt.Fprintf(w, "            %+d  %s\n", r.Amount, r.What)
	}
}

type treasuryCmd struct {
	Show treasuryShowCmd `cmd:"" default:"withargs" help:"Show what there is, reserved, free and waiting to be brought home (the default)."`
	Fund treasuryFundCmd `cmd:"" help:"Book money that you put into the wallet of a chain."`
}

type treasuryShowCmd struct {
	Config string `required:"" placeholder:"FILE" help:"The TOML file of the service."`
	JSON   bool   `name:"json" help:"Print one object, for machines."`
}

// Help implements kong's longer help.
func (*treasuryShowCmd) Help() string {
	return `Shows, out of the books and in smallest units, what is in the wallet of every chain, what of it orders have
a claim to, what is free to be sold, and what lies on deposit addresses, with what of it a transfer did not bring home.
ferry audit compares that with the chains, and ferry wallet sweep brings deposits home now.

Examples:
  ferry treasury --config ferry.toml
  ferry treasury --config ferry.toml --json`
}

// holdingView is what there is of an asset, as machines read it.
type holdingView struct {
	Asset    string `json:"asset"`
	Hot      string `json:"hot"`
	Reserved string `json:"reserved"`
	Free     string `json:"free"`
	Deposits string `json:"deposits"`
	Sold     bool   `json:"sold"` // false: the wallet has less than its minimum
	// Failed is how much of the deposits a transfer did not bring home, if any, and
	// RetryAt when all of it is tried again.
	Failed  string     `json:"sweepFailed,omitempty"`
	RetryAt *time.Time `json:"sweepRetryAt,omitempty"`
}

func holdingOf(h serve.Holding) holdingView {
	v := holdingView{Asset: h.Asset.String(), Hot: h.Hot.String(), Reserved: h.Hot.Reserved.String(), Free: h.Hot.Free().String(), Deposits: h.Lying.String(), Sold: !h.Short}
	if !h.Failed.IsZero() {
		v.Failed, v.RetryAt = h.Failed.String(), &h.Until
	}
	return v
}

// notes are what people should know of it.
func (v holdingView) notes() (all string) {
	if !v.Sold {
		all += " (below its minimum, not sold)"
	}
	if v.RetryAt != nil {
		all += fmt.Sprintf(" (a transfer did not bring %s home, tried again at %s)", v.Failed, v.RetryAt.Format("15:04:05 MST"))
	}
	return all
}

// Run shows the wallets.
func (c *treasuryShowCmd) Run(ctx context.Context, out *output) error {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	all, err := serve.Holdings(ctx, cfg)
	if err != nil {
		return err
	}
	views := make([]holdingView, 0, len(all))
	for _, h := range all {
		views = append(views, holdingOf(h))
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(map[string]any{"holdings": views})
	}
	w := tabwriter.NewWriter(out.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "wallet\treserved\tfree\ton deposit addresses\t asset\t")
	for _, v := range views {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t %s%s\t\n", v.Hot, v.Reserved, v.Free, v.Deposits, v.Asset, v.notes())
	}
	return w.Flush()
}

type treasuryFundCmd struct {
	Config string `required:"" placeholder:"FILE" help:"The TOML file of the service."`
	Asset  string `arg:"" help:"What was put in, such as eip155:1/native."`
	Amount string `arg:"" help:"How much, in smallest units."`
}

// Help implements kong's longer help.
func (*treasuryFundCmd) Help() string {
	return `Send the money to the wallet first, wait until it is final, and book exactly what came: until then an audit
names it as money that is in no book. Booked before it is there, it is missing, and the chain is halted.

Example:
  ferry treasury fund --config ferry.toml eip155:1/native 2500000000000000000`
}

// Run books money that was put in.
func (c *treasuryFundCmd) Run(ctx context.Context, out *output) (err error) {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	asset, err := chain.ParseAsset(c.Asset)
	if err != nil {
		return err
	}
	if !serves(cfg, asset) {
		return fmt.Errorf("%s is not served by this configuration", asset)
	}
	n, err := money.Parse(c.Amount)
	if err != nil || n.IsZero() {
		return fmt.Errorf("%q is not an amount in smallest units above 0", c.Amount)
	}
	db, err := store.Open(ctx, store.Config{URL: cfg.Database.URL})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Fund(ctx, asset, n, time.Now().UTC()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.Out, "booked %s of %s\n", n, asset)
	return err
}

func serves(c config.Config, a chain.Asset) bool {
	for _, one := range c.Chains {
		for _, x := range one.Assets {
			if x == a {
				return true
			}
		}
	}
	return false
}
