package main

import (
	"context"
	"fmt"
	"io"

	"ferry/internal/api/operator"
)

type integratorWebhooksCmd struct {
	officeFlags
	ID string `arg:"" help:"The integrator, as ferry integrator list names it."`
}

// Help implements kong's longer help.
func (*integratorWebhooksCmd) Help() string {
	return `Of each address only the host is shown: the rest may hold what only its owner should know.

Example:
  ferry integrator webhooks --config ferry.toml int_01J0000000000000000000000A` + where
}

// Run lists webhooks.
func (c *integratorWebhooksCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		all, err := o.Webhooks(ctx, c.ID)
		if err != nil {
			return err
		}
		return c.print(out, all, func(w io.Writer) {
			if len(all.Webhooks) == 0 {
				fmt.Fprintln(w, "it has no webhooks")
				return
			}
			fmt.Fprintln(w, "ID\tSTATUS\tLAST NUMBER\tFAILING SINCE\tLAST ERROR\tHOST")
			for _, h := range all.Webhooks {
				since, why := "-", "-"
				if h.FailingSince != nil {
					since, why = *h.FailingSince, h.LastError
					if h.LastStatus != 0 {
						why = fmt.Sprintf("%s %d", why, h.LastStatus)
					}
				}
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", h.ID, h.Status, h.LastSeq, since, why, h.Host)
			}
		})
	})
}
