package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"ferry/internal/config"
	"ferry/internal/store"
)

type checkCmd struct {
	Config string `required:"" placeholder:"FILE" help:"The TOML file; docs/ferry.example.toml shows every key."`
}

// Help is the long form of the command's help.
func (*checkCmd) Help() string {
	return `Everything that would keep the service from starting is refused here first, with what to
do about it. The values in force are shown without secrets. The database is opened as the service
would open it: a new one is made, and migrations that are due are run.

Examples:
  ferry check --config ferry.toml
  FERRY_DATABASE_URL=postgres://ferry@db/ferry ferry check --config ferry.toml`
}

// Run reads the configuration and opens the database.
func (c *checkCmd) Run(ctx context.Context, out *output) error {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	fmt.Fprint(out.Out, cfg)
	if err := openAndClose(ctx, cfg.Database.URL); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out.Out, "\n# ok: the configuration is sound and the database is ready")
	return err
}

// openAndClose opens a database as the service would, which migrates it.
func openAndClose(ctx context.Context, url string) (err error) {
	db, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return nil
}
