package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/api/operator"
	"ferry/internal/config"
	"ferry/internal/office"
	"ferry/internal/secret"
	"ferry/internal/serve"
	"ferry/internal/store"
)

// officeFlags say where the register of integrators is, and how to print.
type officeFlags struct {
	Config    string `placeholder:"FILE" help:"The TOML file of the service, to work on its database."`
	URL       string `name:"operator-url" env:"FERRY_OPERATOR_URL" placeholder:"URL" help:"Ask a running service instead, such as http://127.0.0.1:8081."`
	TokenFile string `name:"operator-token-file" env:"FERRY_OPERATOR_TOKEN_FILE" placeholder:"FILE" help:"The file that holds your operator token; or set FERRY_OPERATOR_TOKEN."`
	JSON      bool   `name:"json" help:"Print one object, for machines."`
}

// where is the end of the help of every command that has these flags.
const where = `

Give --config to work on the service's database, or --operator-url and --operator-token-file to ask a
running service. A SQLite database belongs to the running service, so ask that. Changes are in force
within a minute.`

// with does something at the counter of the office.
func (f *officeFlags) with(ctx context.Context, do func(*operator.Client) error) (err error) {
	switch {
	case f.URL != "" && f.Config != "":
		return errors.New("both a configuration and a running service are named; give --config, or --operator-url (which FERRY_OPERATOR_URL sets, too)")
	case f.URL != "":
		token, err := f.token()
		if err != nil {
			return err
		}
		c, err := operator.NewClient(f.URL, token)
		if err != nil {
			return err
		}
		return do(c)
	case f.Config == "":
		return errors.New("it is not said where the integrators are; give --config FILE, or --operator-url URL and --operator-token-file FILE for a running service")
	}
	cfg, err := config.Load(f.Config, os.Environ())
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, store.Config{URL: cfg.Database.URL})
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w; if that is the running service, ask it with --operator-url and --operator-token-file", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c, err := operator.Local(office.New(db, serve.Addresses{}, time.Now), localName(), slog.Default())
	if err != nil {
		return err
	}
	return do(c)
}

// token is read from a file or from the environment, never from the command line,
// where others could see it.
func (f *officeFlags) token() (secret.Text, error) {
	if f.TokenFile == "" {
		if text := os.Getenv("FERRY_OPERATOR_TOKEN"); text != "" {
			return secret.New(text), nil
		}
		return secret.Text{}, errors.New("a running service wants to know who you are; give --operator-token-file FILE, or set FERRY_OPERATOR_TOKEN")
	}
	text, err := readSecretFile("the operator's token", "--operator-token-file", f.TokenFile)
	return secret.New(text), err
}

// readSecretFile reads a secret from a file that only its owner may read.
func readSecretFile(what, flag, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w; give the path of its file with %s", what, err, flag)
	}
	if info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeType == 0 {
		return "", fmt.Errorf("%s: others may read %s; run chmod 600 on it", what, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return string(bytes.TrimSpace(text)), nil
}

// localName is who stands in the log where somebody works on the database itself.
// The colon keeps it apart from the names of operators.
func localName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return "local:" + u.Username
	}
	return "local:unknown"
}

// print writes a result for a machine or for a person.
func (f *officeFlags) print(out *output, result any, people func(io.Writer)) error {
	if f.JSON {
		text, err := json.Marshal(result, json.Deterministic(true))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out.Out, "%s\n", text)
		return err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	people(w)
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(out.Out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
