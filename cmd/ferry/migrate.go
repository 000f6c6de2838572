package main

import (
	"context"
	"fmt"

	"ferry/internal/config"
)

type migrateCmd struct {
	DB string `name:"db" required:"" placeholder:"URL" help:"sqlite:PATH or postgres://user:password@host/name."`
}

// Help is the long form of the command's help.
func (*migrateCmd) Help() string {
	return `Migrations only go forward, and the service runs them when it starts; this command is for doing
it beforehand. Take a backup first: there is no way back but to restore it.

Examples:
  ferry migrate --db sqlite:ferry.db
  ferry migrate --db postgres://ferry:password@db/ferry`
}

// Run opens the database, which brings it up to date.
func (c *migrateCmd) Run(ctx context.Context, out *output) error {
	if err := openAndClose(ctx, c.DB); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out.Out, "ok: %s is up to date\n", config.Database{URL: c.DB}.Redacted())
	return err
}
