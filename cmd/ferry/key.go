package main

import (
	"context"
	"fmt"
	"io"

	"ferry/internal/api/operator"
)

type keyCmd struct {
	Issue  keyIssueCmd  `cmd:"" help:"Issue a key, which is shown once."`
	List   keyListCmd   `cmd:"" help:"List the keys of an integrator."`
	Revoke keyRevokeCmd `cmd:"" help:"Make a key open nothing, for good."`
}

type keyIssueCmd struct {
	officeFlags
	Integrator string `arg:"" help:"The integrator, as ferry integrator list names it."`
	Kind       string `required:"" enum:"server,public" placeholder:"KIND" help:"server for a backend, public for browsers and mobile apps. It never changes."`
	Label      string `required:"" placeholder:"TEXT" help:"What people call the key."`
	Requests   *int64 `placeholder:"N" help:"Requests a minute of this key; 0 disables this limit only."`
}

// Help implements kong's longer help.
func (*keyIssueCmd) Help() string {
	return `The key is printed once and kept only as a digest: hand it over now. A public key never becomes a
server key; issue another.

Examples:
  ferry key issue --config ferry.toml int_01J0000000000000000000000A --kind server --label production
  ferry key issue --config ferry.toml int_01J0000000000000000000000A --kind public --label web --requests 600` + where
}

// Run issues a key.
func (c *keyIssueCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		k, err := o.IssueKey(ctx, c.Integrator, c.Kind, c.Label, c.Requests)
		if err != nil {
			return err
		}
		return c.print(out, k, func(w io.Writer) {
			fmt.Fprintf(w, "id\t%s\n", k.Key.ID)
			fmt.Fprintf(w, "kind\t%s\n", k.Key.Kind)
			fmt.Fprintf(w, "label\t%s\n", k.Key.Label)
			fmt.Fprintf(w, "limit\t%d requests a minute\n", k.Key.Requests)
			fmt.Fprintf(w, "key\t%s\n", k.Secret.Reveal())
			fmt.Fprintf(w, "\nThis is the only time that the key is shown.\n")
		})
	})
}

type keyListCmd struct {
	officeFlags
	Integrator string `arg:"" help:"The integrator, as ferry integrator list names it."`
}

// Help implements kong's longer help.
func (*keyListCmd) Help() string {
	return `Example:
  ferry key list --config ferry.toml int_01J0000000000000000000000A` + where
}

// Run lists keys.
func (c *keyListCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		all, err := o.Keys(ctx, c.Integrator)
		if err != nil {
			return err
		}
		return c.print(out, all, func(w io.Writer) {
			if len(all.Keys) == 0 {
				fmt.Fprintln(w, "the integrator has no keys")
				return
			}
			fmt.Fprintln(w, "ID\tKIND\tSTATUS\tKEY\tPER MINUTE\tLAST USED\tLABEL")
			for _, k := range all.Keys {
				used := "never"
				if k.LastUsedAt != nil {
					used = *k.LastUsedAt
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", k.ID, k.Kind, k.Status, k.Hint, k.Requests, used, k.Label)
			}
		})
	})
}

type keyRevokeCmd struct {
	officeFlags
	ID string `arg:"" name:"key" help:"The key, as ferry key list names it."`
}

// Help implements kong's longer help.
func (*keyRevokeCmd) Help() string {
	return `There is no way back: issue another key instead. Orders made with it go on and still count.

Example:
  ferry key revoke --config ferry.toml key_01J0000000000000000000000A` + where
}

// Run revokes a key.
func (c *keyRevokeCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		k, err := o.RevokeKey(ctx, c.ID)
		if err != nil {
			return err
		}
		return c.print(out, k, func(w io.Writer) {
			fmt.Fprintf(w, "key %s (%s) is revoked since %s\n", k.ID, k.Label, *k.RevokedAt)
		})
	})
}
