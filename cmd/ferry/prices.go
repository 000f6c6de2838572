package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"ferry/internal/api/operator"
)

type pricesCmd struct {
	officeFlags
	Confirm string `placeholder:"SYMBOL" help:"Believe the price of this symbol, which jumped."`
	At      string `placeholder:"PRICE" help:"The price that is confirmed, as it was shown."`
}

// Help implements kong's longer help.
func (*pricesCmd) Help() string {
	return `Nothing is sold without a price that enough sources agree on. This shows what each of them says now, and why a word
does not count: too old, too far from the others, no price at all.

A price that jumped is stopped, and is believed again when it has held for ten minutes or when somebody has looked and
confirms it with the price that was shown.

Only the running service knows its prices, so ask that: give --operator-url and --operator-token-file.

Examples:
  ferry prices --operator-url http://127.0.0.1:8081 --operator-token-file token
  ferry prices --confirm SOL --at 151.2
  ferry prices --json`
}

// Run shows the prices.
func (c *pricesCmd) Run(ctx context.Context, out *output) error {
	if (c.Confirm == "") != (c.At == "") {
		return errors.New("a price is confirmed by its symbol and by what was seen; give both --confirm SYMBOL and --at PRICE")
	}
	return c.with(ctx, func(o *operator.Client) error {
		all, err := o.Prices(ctx)
		if c.Confirm != "" {
			all, err = o.ConfirmPrice(ctx, c.Confirm, c.At)
		}
		if err != nil {
			return err
		}
		return c.print(out, all, func(w io.Writer) { showPrices(w, all) })
	})
}

// showPrices tells people what a unit is worth, and who says so.
func showPrices(w io.Writer, all operator.Prices) {
	fmt.Fprintln(w, "SYMBOL\tSOURCE\tKIND\tSAYS\tAT\tWHAT BECOMES OF IT")
	for _, p := range all.Prices {
		what := "is used"
		switch {
		case p.Stopped && p.Next != nil:
			what = "jumped to " + *p.Next + " and is stopped; ferry prices --confirm " + p.Symbol + " --at " + *p.Next
		case p.Stopped:
			what = "jumped and is stopped; its sources do not agree now"
		case p.Price == nil:
			what = fmt.Sprintf("has no price: fewer than %d sources of %d kinds agree", p.Quorum, p.MinKinds)
		}
		fmt.Fprintf(w, "%s\t\t\t%s\t%s\t%s\n", p.Symbol, orDash(p.Price), orDash(p.At), what)
		for _, s := range p.Sources {
			what := "counts"
			if s.Why != nil {
				what = *s.Why
			}
			fmt.Fprintf(w, "\t%s\t%s\t%s\t%s\t%s\n", s.Source, s.Kind, orDash(s.Price), orDash(s.At), what)
		}
	}
}

func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
