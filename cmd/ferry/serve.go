package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"ferry/internal/config"
	"ferry/internal/front"
	"ferry/internal/serve"
)

type serveCmd struct {
	Config string `required:"" placeholder:"FILE" help:"The TOML file; docs/ferry.example.toml shows every key."`
	JSON   bool   `name:"json" help:"Print one line of JSON when everything answers, for scripts."`
}

// Help implements kong's longer help.
func (*serveCmd) Help() string {
	return `Runs the service until it is interrupted: it watches the chains, settles orders, and answers callers and
operators. What keeps it from starting is said with what to do; ferry check says the same without starting.

Examples:
  ferry serve --config ferry.toml
  FERRY_API_LISTEN=0.0.0.0:8080 ferry serve --config ferry.toml --json`
}

// Run serves.
func (c *serveCmd) Run(ctx context.Context, out *output) error {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	version, revision := build()
	log := slog.New(slog.NewJSONHandler(out.Err, nil))
	front.Roomy()
	s, err := serve.New(ctx, cfg, serve.Options{Version: version, Revision: revision, Log: log, Ask: out.ask})
	if err != nil {
		return err
	}
	return s.Run(ctx, func() {
		api, operators := s.Addresses()
		if c.JSON {
			_ = json.NewEncoder(out.Out).Encode(map[string]string{"api": "http://" + api, "operatorApi": "http://" + operators})
			return
		}
		fmt.Fprintf(out.Out, "Ferry answers at http://%s, and operators at http://%s.\n", api, operators)
	})
}
