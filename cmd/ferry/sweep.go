package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"ferry/internal/api/operator"
)

type walletSweepCmd struct {
	officeFlags
	Chain string `placeholder:"ID" help:"Only the deposits of this chain, such as eip155:1."`
	Watch bool   `help:"Wait until everything is home, and tell each asset that is."`
}

// Help implements kong's longer help.
func (*walletSweepCmd) Help() string {
	return `The service brings deposits home to the hot wallet when enough has come together or when they are old. This has it
done now, within ten minutes, for whatever pays for its own way: what would cost more than it brings is left as dust, and
said. It can be repeated: what is on its way is not sent again. Amounts are in smallest units.

Only the running service can do it, so ask that: give --operator-url and --operator-token-file.

Examples:
  ferry wallet sweep --operator-url http://127.0.0.1:8081 --operator-token-file token
  ferry wallet sweep --chain eip155:1 --watch
  ferry wallet sweep --json`
}

// Run asks for a sweep.
func (c *walletSweepCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		asked, err := o.Sweep(ctx, c.Chain)
		if err != nil {
			return err
		}
		look := lookout{func(ctx context.Context) (operator.Sweeps, error) { return o.Unswept(ctx, c.Chain) }, out.Out, lookEvery, lookMost}
		if !c.JSON {
			err := c.print(out, asked, func(w io.Writer) { showUnswept(w, asked) })
			if err == nil && c.Watch {
				_, err = look.wait(ctx, asked)
			}
			return err
		}
		var waited error
		if look.tell = io.Discard; c.Watch { // one object, of how it ended
			asked, waited = look.wait(ctx, asked)
		}
		return errors.Join(c.print(out, asked, nil), waited)
	})
}

// showUnswept tells people what will be brought home and what will not.
func showUnswept(w io.Writer, s operator.Sweeps) {
	if len(s.Assets) == 0 {
		fmt.Fprintln(w, "nothing lies on deposit addresses that could be brought home")
		return
	}
	fmt.Fprintln(w, "ASSET\tADDRESSES\tAMOUNT\tWHAT BECOMES OF IT")
	for _, a := range s.Assets {
		for _, row := range []struct {
			lot  operator.Lot
			what string
		}{
			{a.Sweep, "is brought home now"},
			{a.Failed, "was not brought home before, and is tried again"},
			{a.Dust, "is dust: it would cost more than it brings"},
			{a.Held, "stays: " + a.Why},
		} {
			if row.lot.Addresses > 0 {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", a.Asset, count(row.lot, a.More), row.lot.Amount, row.what)
			}
		}
		if a.Underway > 0 {
			fmt.Fprintf(w, "%s\t\t\tis on its way already, in transfers: %d\n", a.Asset, a.Underway)
		}
	}
}

func count(l operator.Lot, more bool) string {
	if more {
		return fmt.Sprintf("%d or more", l.Addresses)
	}
	return fmt.Sprint(l.Addresses)
}

// What keeps deposits from home while somebody waits for them.
var (
	errUnswept = errors.New("a transfer did not bring its deposits home; the log of the service says why, and it tries again by itself")
	errTooLong = errors.New("not everything came home in time; the log of the service says why, and asking again does no harm")
)

// lookout waits until nothing more is to be brought home, and tells each asset of which
// that is so.
type lookout struct {
	ask   func(context.Context) (operator.Sweeps, error)
	tell  io.Writer
	every time.Duration
	most  time.Duration // without anything on its way
}

// Of a lookout. The hurry of the service lasts for ten minutes; what is on its way is
// waited for longer, since chains may take their time to make it final.
const (
	lookEvery = 2 * time.Second
	lookMost  = 11 * time.Minute
)

func (l lookout) wait(ctx context.Context, asked operator.Sweeps) (now operator.Sweeps, err error) {
	open := map[string]operator.Unswept{}
	for _, a := range asked.Assets {
		if !a.Home() || a.Failed.Addresses > 0 {
			open[a.Asset] = a
		}
	}
	var failed error
	for end := time.Now().Add(l.most); len(open) > 0; {
		select {
		case <-ctx.Done():
			return now, ctx.Err()
		case <-time.After(l.every):
		}
		if now, err = l.ask(ctx); err != nil {
			return now, err
		}
		is, underway := map[string]operator.Unswept{}, 0
		for _, a := range now.Assets {
			is[a.Asset], underway = a, underway+a.Underway
		}
		for _, was := range asked.Assets {
			if _, waits := open[was.Asset]; waits && ended(was, is[was.Asset]) {
				delete(open, was.Asset)
				failed = errors.Join(failed, l.told(was, is[was.Asset]))
			}
		}
		if underway == 0 && len(open) > 0 && time.Now().After(end) {
			return now, errors.Join(failed, errTooLong)
		}
	}
	return now, failed
}

// ended reports whether nothing more becomes of an asset: what had failed before must
// have been tried again.
func ended(was, is operator.Unswept) bool {
	return is.Home() && (is.Failed.Addresses == 0 || was.RetryAt == nil || *was.RetryAt != *is.RetryAt)
}

// told tells how it ended with an asset.
func (l lookout) told(was, is operator.Unswept) error {
	asset := was.Asset
	switch {
	case is.Failed.Addresses > 0:
		fmt.Fprintf(l.tell, "%s: %s on %d addresses was not brought home\n", asset, is.Failed.Amount, is.Failed.Addresses)
		return fmt.Errorf("%s: %w", asset, errUnswept)
	case is.Held.Addresses > 0:
		fmt.Fprintf(l.tell, "%s: %s on %d addresses stays: %s\n", asset, is.Held.Amount, is.Held.Addresses, is.Why)
		return fmt.Errorf("%s: %w", asset, errTooLong)
	}
	fmt.Fprintf(l.tell, "%s: home", asset)
	for _, lot := range []operator.Lot{was.Sweep, was.Failed} {
		if lot.Addresses > 0 {
			fmt.Fprintf(l.tell, ", %s from %d addresses", lot.Amount, lot.Addresses)
		}
	}
	fmt.Fprintln(l.tell)
	return nil
}
