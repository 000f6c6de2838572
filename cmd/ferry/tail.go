package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"ferry/internal/api/operator"
	"ferry/internal/secret"
	"ferry/internal/tail"
)

type tailCmd struct {
	Order       string `placeholder:"ORDER" help:"Follow this order."`
	Integrator  string `placeholder:"ID" help:"Follow the orders of this integrator; for operators."`
	After       *int64 `placeholder:"N" xor:"begin" help:"Go on after this number, the last that you have."`
	Last        *int64 `placeholder:"N" xor:"begin" help:"Show the last N events first."`
	Keep        bool   `help:"Go on after the order is at its end."`
	JSON        bool   `name:"json" help:"Print events as they come, one object in a line."`
	NoColour    bool   `name:"no-color" env:"NO_COLOR" help:"Print without colours."`
	OperatorURL string `name:"operator-url" env:"FERRY_OPERATOR_URL" placeholder:"URL" help:"The operators' API of a running service, such as http://127.0.0.1:8081."`
	TokenFile   string `name:"operator-token-file" env:"FERRY_OPERATOR_TOKEN_FILE" placeholder:"FILE" help:"The file that holds your operator token; or set FERRY_OPERATOR_TOKEN."`

	URL         string `name:"url" placeholder:"URL" help:"The public API instead, such as https://swap.example.com: for integrators and owners of orders."`
	KeyFile     string `name:"key-file" placeholder:"FILE" help:"The file that holds your server key, or - for the standard input; or set FERRY_INTEGRATOR_KEY."`
	SessionFile string `name:"session-file" placeholder:"FILE" xor:"proof" help:"The file that holds the order's session, or - for the standard input; or set FERRY_SESSION."`
	Verify      string `placeholder:"ADDRESS" xor:"proof" help:"The order's destination address instead of its session, which shows less."`
}

// Help implements kong's longer help.
func (*tailCmd) Help() string {
	return `Shows what happens to orders as it happens, a line for each event, until it is interrupted or the one order is at its
end. A broken connection is made again, and goes on after the last event: none is missing and none is shown twice.
Numbers are durable. Whoever ends it is told the number to go on after, another day if need be.

Operators ask a running service with --operator-url and --operator-token-file, and see everything, one integrator or
one order, numbered by the log of the service. It begins now unless --last or --after says otherwise.

Integrators ask the public API with --url and their server key, and see the orders of their integration, numbered by
its own log. Whoever owns an order gives --url, --order and its session or destination address, and sees it as it is
and what follows; --after 0 shows it from its beginning. Secrets are read from files, the environment or the standard
input, never from the command line.

Examples:
  ferry tail --operator-url http://127.0.0.1:8081 --operator-token-file token
  ferry tail --last 20 --integrator int_…
  ferry tail --after 1842 --json
  ferry tail --url https://swap.example.com --key-file key
  ferry tail --url https://swap.example.com --order ord_… --session-file session
  ferry tail --url https://swap.example.com --order ord_… --verify 7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs`
}

// Run follows.
func (c *tailCmd) Run(ctx context.Context, out *output) error {
	if c.After != nil && *c.After < 0 || c.Last != nil && *c.Last < 0 {
		return errors.New("--after and --last are whole numbers from 0")
	}
	show := &tail.Printer{Out: out.Out, JSON: c.JSON, Colour: !c.NoColour && terminal(out.Out)}
	cfg := tail.Config{From: tail.From{After: c.After}, Keep: c.Keep, Show: show.Show, Say: func(text string) { fmt.Fprintln(out.Err, "ferry:", text) }}
	if c.Last != nil {
		cfg.From.Last = *c.Last
	}
	var err error
	if c.URL != "" {
		err = c.public(ctx, out, &cfg, show)
	} else {
		err = c.office(&cfg, show)
	}
	if err != nil {
		return err
	}
	t := tail.New(cfg)
	err = t.Run(ctx)
	if n, known := t.After(); known && (ctx.Err() != nil || err != nil && t.Heard()) {
		fmt.Fprintf(out.Err, "resume with --after %d\n", n)
	}
	return err
}

// office follows through the operators' API.
func (c *tailCmd) office(cfg *tail.Config, show *tail.Printer) error {
	switch {
	case c.KeyFile != "" || c.SessionFile != "" || c.Verify != "":
		return errors.New("a key, a session or an address is shown to the public API; give its address with --url")
	case c.OperatorURL == "":
		return errors.New("it is not said what to follow; operators give --operator-url URL and --operator-token-file FILE, everybody else --url URL")
	case c.Order != "" && c.Integrator != "":
		return errors.New("both an order and an integrator are named; give one of the two")
	}
	token, err := (&officeFlags{TokenFile: c.TokenFile}).token()
	if err != nil {
		return err
	}
	client, err := operator.NewClient(c.OperatorURL, token)
	if err != nil {
		return err
	}
	cfg.Source, show.Whose = tail.Office{Client: client, Order: c.Order, Integrator: c.Integrator}, true
	cfg.Dense = c.Order == "" && c.Integrator == ""
	return nil
}

// public follows over the live socket.
func (c *tailCmd) public(ctx context.Context, out *output, cfg *tail.Config, show *tail.Printer) error {
	if c.Integrator != "" {
		return errors.New("the public API knows an integrator by its key; give --key-file FILE instead of --integrator")
	}
	if c.Order == "" && (c.SessionFile != "" || c.Verify != "") {
		return errors.New("a session or an address is of an order; name it with --order")
	}
	if c.KeyFile == "-" && c.SessionFile == "-" {
		return errors.New("both secrets can not come from the standard input; write one into a file")
	}
	s, err := tail.NewSocket(c.URL)
	if err != nil {
		return err
	}
	cfg.Source, s.Order, s.Verify = s, c.Order, c.Verify
	if c.Order == "" {
		cfg.Dense = true
		if s.Key, err = out.secretFrom("the server key", "--key-file", c.KeyFile, "FERRY_INTEGRATOR_KEY"); err != nil || c.JSON {
			return err
		}
		show.Decimals, _ = s.Decimals(ctx) // without them amounts are shown by what they were worth
		return nil
	}
	if c.KeyFile != "" {
		if s.Key, err = out.secretFrom("the server key", "--key-file", c.KeyFile, ""); err != nil {
			return err
		}
	}
	if c.Verify == "" {
		s.Session, err = out.secretFrom("the order's session", "--session-file", c.SessionFile, "FERRY_SESSION")
	}
	return err
}

// secretFrom reads a secret: from a file that only its owner may read, the environment,
// or the standard input, where a person is asked and nothing is shown.
func (o *output) secretFrom(what, flag, file, variable string) (secret.Text, error) {
	if file == "" && variable != "" {
		if text := os.Getenv(variable); text != "" {
			return usable(what, text)
		}
	}
	if file != "" && file != "-" {
		text, err := readSecretFile(what, flag, file)
		if err != nil {
			return secret.Text{}, err
		}
		return usable(what, text)
	}
	if term.IsTerminal(int(os.Stdin.Fd())) { //nolint:gosec // a descriptor is small
		text, err := o.ask(strings.ToUpper(what[:1]) + what[1:])
		if err != nil {
			return secret.Text{}, err
		}
		return usable(what, text.Reveal())
	}
	const most = 4096
	text, err := io.ReadAll(io.LimitReader(os.Stdin, most))
	if err != nil {
		return secret.Text{}, fmt.Errorf("%s: read the standard input: %w", what, err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return secret.Text{}, fmt.Errorf("%s is missing; give %s FILE, set %s, or write it to the standard input", what, flag, variable)
	}
	return usable(what, string(text))
}

// usable is a secret that can be sent: what is none is never shown.
func usable(what, text string) (secret.Text, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return secret.Text{}, fmt.Errorf("%s is not one: it is a single word", what)
	}
	return secret.New(text), nil
}

// terminal reports whether somebody watches.
func terminal(w io.Writer) bool {
	f, is := w.(*os.File)
	return is && term.IsTerminal(int(f.Fd())) //nolint:gosec // a descriptor is small
}
