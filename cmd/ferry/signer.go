package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"ferry/internal/config"
	"ferry/internal/serve"
	"ferry/internal/signer"
	"ferry/internal/store"
)

type signerCmd struct {
	Config         string `required:"" placeholder:"FILE" help:"The configuration of the service."`
	Seed           string `placeholder:"FILE" help:"The seed file. The service's configuration need not name it."`
	PassphraseFile string `placeholder:"FILE" help:"A file with its passphrase, which only you may read. Without it you are asked."`
	Socket         string `placeholder:"PATH" help:"Where to listen, if it is not the configuration's signerSocket."`
	JSON           bool   `name:"json" help:"Print one line of JSON when it answers, for scripts."`
}

// Help implements kong's longer help.
func (*signerCmd) Help() string {
	return `Keeps the keys in a process of its own, so that nobody who breaks into the service can take them. The service
asks over a unix socket that only the same user may use. Each transaction is read again from its bytes and
compared with the wish in the database; caps and halts are looked at before anything is signed. It reads the
database and writes nothing. The service's configuration names the socket: [wallet] signerSocket = "PATH".

Examples:
  ferry signer --config ferry.toml --seed ferry.seed
  ferry signer --config ferry.toml --seed ferry.seed --passphrase-file ferry.passphrase --socket /run/ferry/signer.sock`
}

// Run signs until it is interrupted.
func (c *signerCmd) Run(ctx context.Context, out *output) (err error) {
	if err := signer.Harden(); err != nil { // before there is a secret to keep
		return err
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	seed, err := serve.OpenSeed(cfg.Wallet, out.ask)
	if err != nil {
		return err
	}
	wishes, err := store.OpenWishes(ctx, store.Config{URL: cfg.Database.URL})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wishes.Close()) }()
	keys, err := serve.NewSigner(ctx, cfg, seed, wishes)
	if err != nil {
		return err
	}
	l, err := signer.Listen(cfg.Wallet.Socket)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(out.Out).Encode(map[string]string{"socket": cfg.Wallet.Socket})
	} else {
		_, err = fmt.Fprintf(out.Out, "The signer answers at %s.\n", cfg.Wallet.Socket)
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return signer.NewServer(keys, serve.KeyNets(cfg), slog.New(slog.NewJSONHandler(out.Err, nil))).Run(ctx, l)
}

// config is the service's, with what this process has of its own.
func (c *signerCmd) config() (config.Config, error) {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return cfg, err
	}
	w := &cfg.Wallet
	if c.Seed != "" {
		w.SeedFile, w.PassphraseFile = c.Seed, ""
	}
	if c.PassphraseFile != "" {
		w.PassphraseFile = c.PassphraseFile
	}
	if c.Socket != "" {
		w.Socket = c.Socket
	}
	switch {
	case w.SeedFile == "":
		return cfg, errors.New("say where the seed is: give --seed FILE")
	case w.Socket == "":
		return cfg, errors.New("say where to listen: give --socket PATH, or write signerSocket under [wallet]")
	case len(serve.KeyNets(cfg)) == 0:
		return cfg, errors.New("no chain of the configuration has keys: they are all simulated")
	}
	return cfg, nil
}
