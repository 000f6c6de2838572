package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/api/operator"
	"ferry/internal/money"
)

type integratorCmd struct {
	Create     integratorCreateCmd     `cmd:"" help:"Make an integrator with the usual limits."`
	List       integratorListCmd       `cmd:"" help:"List all integrators."`
	Show       integratorShowCmd       `cmd:"" help:"Show one integrator."`
	Limits     integratorLimitsCmd     `cmd:"" help:"Set what an integrator may use."`
	Fees       integratorFeesCmd       `cmd:"" help:"Set what an integrator earns, and where it is paid."`
	Suspend    integratorSuspendCmd    `cmd:"" help:"Make the keys of an integrator open nothing."`
	Resume     integratorResumeCmd     `cmd:"" help:"Make the keys of a suspended integrator open again."`
	Points     integratorPointsCmd     `cmd:"" help:"Say whether orders of an integrator earn points."`
	Forwarding integratorForwardingCmd `cmd:"" help:"Set which servers may say for which end user they ask."`
}

// printIntegrator shows one integrator with everything that is set.
func (f *officeFlags) printIntegrator(out *output, i operator.Integrator) error {
	return f.print(out, i, func(w io.Writer) {
		line := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
		line("id", "%s", i.ID)
		line("name", "%s", i.Name)
		line("status", "%s", i.Status)
		line("version", "%d, of %s", i.Version, i.UpdatedAt)
		line("limits", "%d requests, %d quotes, %d creates a minute, %d open orders", i.Limits.Requests, i.Limits.Quotes, i.Limits.Creates, i.Limits.OpenOrders)
		line("window", "%s", time.Duration(i.OpenOrderWindowMinutes)*time.Minute)
		line("attribution", "%d days", i.Attribution.Days)
		line("fee", "%s percent", i.DefaultFeePercent)
		for _, family := range []string{"evm", "solana", "bitcoin"} {
			if to := i.PayoutAddresses[family]; to != nil {
				line("paid to", "%s on %s", *to, family)
			}
		}
		points := "off"
		if i.Points {
			points = "on"
		}
		line("points", "%s", points)
		forwards := "disabled"
		if i.Forwarding.Enabled {
			forwards = "enabled"
		}
		line("forwarding", "%s", forwards)
		if len(i.Forwarding.Egress) > 0 {
			line("servers", "%s", strings.Join(i.Forwarding.Egress, " "))
		}
		c := i.Forwarding.Limits
		line("of a client", "%d requests, %d creates a minute, %d open orders", c.Requests, c.Creates, c.OpenOrders)
	})
}

type integratorCreateCmd struct {
	officeFlags
	Name string `arg:"" help:"The company's name, as people read it."`
}

// Help implements kong's longer help.
func (*integratorCreateCmd) Help() string {
	return `Examples:
  ferry integrator create --config ferry.toml "Acme Wallet"
  ferry integrator create --operator-url http://127.0.0.1:8081 --operator-token-file token "Acme Wallet"` + where
}

// Run makes an integrator.
func (c *integratorCreateCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		i, err := o.Create(ctx, c.Name)
		if err != nil {
			return err
		}
		return c.printIntegrator(out, i)
	})
}

type integratorListCmd struct{ officeFlags }

// Help implements kong's longer help.
func (*integratorListCmd) Help() string {
	return `Example:
  ferry integrator list --config ferry.toml` + where
}

// Run lists integrators.
func (c *integratorListCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		all, err := o.List(ctx)
		if err != nil {
			return err
		}
		return c.print(out, map[string]any{"integrators": all.Integrators}, func(w io.Writer) {
			if len(all.Integrators) == 0 {
				fmt.Fprintln(w, "there are no integrators")
				return
			}
			fmt.Fprintln(w, "ID\tSTATUS\tFEE\tNAME")
			for _, i := range all.Integrators {
				fmt.Fprintf(w, "%s\t%s\t%s%%\t%s\n", i.ID, i.Status, i.DefaultFeePercent, i.Name)
			}
		})
	})
}

type integratorShowCmd struct {
	officeFlags
	ID string `arg:"" help:"The integrator, as ferry integrator list names it."`
}

// Help implements kong's longer help.
func (*integratorShowCmd) Help() string {
	return `Example:
  ferry integrator show --config ferry.toml int_01J0000000000000000000000A` + where
}

// Run shows an integrator.
func (c *integratorShowCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		i, err := o.Show(ctx, c.ID)
		if err != nil {
			return err
		}
		return c.printIntegrator(out, i)
	})
}

// change sends a patch and shows what came of it.
func (f *officeFlags) change(ctx context.Context, out *output, id string, p operator.Patch) error {
	return f.with(ctx, func(o *operator.Client) error {
		i, err := o.Change(ctx, id, p)
		if err != nil {
			return err
		}
		return f.printIntegrator(out, i)
	})
}

type integratorLimitsCmd struct {
	officeFlags
	ID          string         `arg:"" help:"The integrator, as ferry integrator list names it."`
	Requests    *int64         `placeholder:"N" help:"Requests a minute; 0 disables this limit only."`
	Quotes      *int64         `placeholder:"N" help:"Quotes a minute; 0 disables this limit only."`
	Creates     *int64         `placeholder:"N" help:"Orders created a minute; 0 disables this limit only."`
	OpenOrders  *int64         `placeholder:"N" help:"Unfinished orders at a time; 0 disables this limit only."`
	Window      *time.Duration `placeholder:"2h" help:"Within which unfinished orders count."`
	Attribution *int           `name:"attribution-days" placeholder:"N" help:"Over how many days attribution is reported."`
}

// Help implements kong's longer help.
func (*integratorLimitsCmd) Help() string {
	return `What is not named stays as it is.

Examples:
  ferry integrator limits --config ferry.toml int_01J0000000000000000000000A --requests 1200 --open-orders 500
  ferry integrator limits --config ferry.toml int_01J0000000000000000000000A --window 4h --attribution-days 90` + where
}

// Run sets limits.
func (c *integratorLimitsCmd) Run(ctx context.Context, out *output) error {
	p := operator.Patch{}
	if l := (operator.LimitsPatch{Requests: c.Requests, Quotes: c.Quotes, Creates: c.Creates, OpenOrders: c.OpenOrders}); l != (operator.LimitsPatch{}) {
		p.Limits = &l
	}
	if c.Window != nil {
		if *c.Window%time.Minute != 0 {
			return fmt.Errorf("--window %s is not in whole minutes; write such as 2h or 90m", *c.Window)
		}
		minutes := int64(*c.Window / time.Minute)
		p.OpenOrderWindowMinutes = &minutes
	}
	if c.Attribution != nil {
		p.Attribution = &operator.AttributionPatch{Days: c.Attribution}
	}
	return c.change(ctx, out, c.ID, p)
}

type integratorFeesCmd struct {
	officeFlags
	ID      string   `arg:"" help:"The integrator, as ferry integrator list names it."`
	Percent *string  `name:"default-percent" placeholder:"0.5" help:"What it earns where an order does not say, from 0 to 5."`
	EVM     string   `name:"evm" placeholder:"ADDR" help:"Where fees on EVM chains are paid."`
	Solana  string   `placeholder:"ADDR" help:"Where fees on Solana are paid."`
	Bitcoin string   `placeholder:"ADDR" help:"Where fees on Bitcoin are paid."`
	Clear   []string `enum:"evm,solana,bitcoin" placeholder:"FAMILY" help:"Take the address of a family away: evm, solana or bitcoin."`
}

// Help implements kong's longer help.
func (*integratorFeesCmd) Help() string {
	return `What is not named stays as it is. Without an address of the family that an order's money comes
from, no fee is taken.

Examples:
  ferry integrator fees --config ferry.toml int_01J0000000000000000000000A --default-percent 0.5 --evm 0x52908400098527886e0f7030069857d2e4169ee7
  ferry integrator fees --config ferry.toml int_01J0000000000000000000000A --clear evm` + where
}

// Run sets fees.
func (c *integratorFeesCmd) Run(ctx context.Context, out *output) error {
	p := operator.Patch{PayoutAddresses: map[string]*string{}}
	if c.Percent != nil {
		percent, err := money.ParsePercent(*c.Percent)
		if err != nil {
			return fmt.Errorf("--default-percent: %w; write a number from 0 to 5, such as 0.5", err)
		}
		p.DefaultFeePercent = jsontext.Value(percent.String())
	}
	for family, to := range map[string]string{"evm": c.EVM, "solana": c.Solana, "bitcoin": c.Bitcoin} {
		clear := slices.Contains(c.Clear, family)
		switch {
		case clear && to != "":
			return fmt.Errorf("--%s gives an address that --clear takes away; leave one of them out", family)
		case clear:
			p.PayoutAddresses[family] = nil
		case to != "":
			p.PayoutAddresses[family] = &to
		}
	}
	return c.change(ctx, out, c.ID, p)
}

type integratorSuspendCmd struct {
	officeFlags
	ID string `arg:"" help:"The integrator, as ferry integrator list names it."`
}

// Help implements kong's longer help.
func (*integratorSuspendCmd) Help() string {
	return `All its keys are refused, public ones too. Orders that are under way go on.

Example:
  ferry integrator suspend --config ferry.toml int_01J0000000000000000000000A` + where
}

// Run suspends.
func (c *integratorSuspendCmd) Run(ctx context.Context, out *output) error {
	status := "suspended"
	return c.change(ctx, out, c.ID, operator.Patch{Status: &status})
}

type integratorPointsCmd struct {
	officeFlags
	ID    string `arg:"" help:"The integrator, as ferry integrator list names it."`
	State string `arg:"" enum:"on,off" help:"on or off."`
}

// Help implements kong's longer help.
func (*integratorPointsCmd) Help() string {
	return `With off, orders that are made from then on earn no points, neither for their owners nor for the
integration. What was earned stays, and orders that are under way earn by the terms they were made with.

Examples:
  ferry integrator points --config ferry.toml int_01J0000000000000000000000A off
  ferry integrator points --config ferry.toml int_01J0000000000000000000000A on` + where
}

// Run sets whether points are earned.
func (c *integratorPointsCmd) Run(ctx context.Context, out *output) error {
	on := c.State == "on"
	return c.change(ctx, out, c.ID, operator.Patch{Points: &on})
}

type integratorResumeCmd struct {
	officeFlags
	ID string `arg:"" help:"The integrator, as ferry integrator list names it."`
}

// Help implements kong's longer help.
func (*integratorResumeCmd) Help() string {
	return `Keys that were revoked stay revoked.

Example:
  ferry integrator resume --config ferry.toml int_01J0000000000000000000000A` + where
}

// Run resumes.
func (c *integratorResumeCmd) Run(ctx context.Context, out *output) error {
	status := "active"
	return c.change(ctx, out, c.ID, operator.Patch{Status: &status})
}

type integratorForwardingCmd struct {
	officeFlags
	ID         string   `arg:"" help:"The integrator, as ferry integrator list names it."`
	Action     string   `arg:"" enum:"enable,disable,approve,remove,limits" help:"enable, disable, approve, remove or limits."`
	Networks   []string `arg:"" optional:"" name:"cidr" help:"Servers to approve or to remove, such as 203.0.113.7 or 203.0.113.0/24."`
	Requests   *int64   `placeholder:"N" help:"With limits: requests a minute of one client; 0 disables this limit only."`
	Creates    *int64   `placeholder:"N" help:"With limits: orders created a minute by one client; 0 disables this limit only."`
	OpenOrders *int64   `placeholder:"N" help:"With limits: unfinished orders of one client; 0 disables this limit only."`
}

// Help implements kong's longer help.
func (*integratorForwardingCmd) Help() string {
	return `Approve the servers first, then enable.

Examples:
  ferry integrator forwarding --config ferry.toml int_01J0000000000000000000000A approve 203.0.113.7 2001:db8:7::/48
  ferry integrator forwarding --config ferry.toml int_01J0000000000000000000000A enable
  ferry integrator forwarding --config ferry.toml int_01J0000000000000000000000A limits --requests 120
  ferry integrator forwarding --config ferry.toml int_01J0000000000000000000000A remove 203.0.113.7` + where
}

// Run sets who may forward.
func (c *integratorForwardingCmd) Run(ctx context.Context, out *output) error {
	p, err := c.patch()
	if err != nil {
		return err
	}
	return c.change(ctx, out, c.ID, operator.Patch{Forwarding: p})
}

func (c *integratorForwardingCmd) patch() (*operator.ForwardingPatch, error) {
	limits := operator.ClientLimitsPatch{Requests: c.Requests, Creates: c.Creates, OpenOrders: c.OpenOrders}
	named := limits != operator.ClientLimitsPatch{}
	lists := c.Action == "approve" || c.Action == "remove"
	switch {
	case lists && len(c.Networks) == 0:
		return nil, fmt.Errorf("%s wants servers; name at least one, such as 203.0.113.7", c.Action)
	case !lists && len(c.Networks) > 0:
		return nil, fmt.Errorf("%s takes no servers; approve or remove does", c.Action)
	case named && c.Action != "limits":
		return nil, fmt.Errorf("%s takes no limits; give them to ferry integrator forwarding ID limits", c.Action)
	case !named && c.Action == "limits":
		return nil, errors.New("limits wants to know which; give --requests, --creates or --open-orders")
	}
	switch c.Action {
	case "approve":
		return &operator.ForwardingPatch{Approve: c.Networks}, nil
	case "remove":
		return &operator.ForwardingPatch{Remove: c.Networks}, nil
	case "limits":
		return &operator.ForwardingPatch{Limits: &limits}, nil
	}
	enabled := c.Action == "enable"
	return &operator.ForwardingPatch{Enabled: &enabled}, nil
}
