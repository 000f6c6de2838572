// Command ferry is the whole service in one binary.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitRefused = 1 // the command ran and said no
	exitUsage   = 2 // the command line was not understood
)

// cli is the command line; each command has its own file.
type cli struct {
	Sim      simCmd      `cmd:"" help:"Run a seeded world of users, chains and crashes, and check that nothing is lost or paid twice."`
	Serve    serveCmd    `cmd:"" help:"Run the service of a configuration."`
	Dev      devCmd      `cmd:"" help:"Run the whole service on local chains, for development."`
	Check    checkCmd    `cmd:"" help:"Read a configuration, open its database, and say what is in force or what to do."`
	Networks networksCmd `cmd:"" help:"Show what is known of public networks: confirmations, tokens and explorers."`
	Migrate  migrateCmd  `cmd:"" help:"Bring a database up to the schema of this program."`
	Halts    haltsCmd    `cmd:"" help:"Show which chains are halted, since when and why."`
	Resume   resumeCmd   `cmd:"" help:"Let a halted chain go on, after you have looked."`
	Prices   pricesCmd   `cmd:"" help:"Show what every source says of prices and why some do not count, and confirm one that jumped."`
	Audit    auditCmd    `cmd:"" help:"Compare the books with the chains, and explain every difference."`

	Tail    tailCmd    `cmd:"" help:"Follow an order, an integration or everything, and go on by number."`
	Recount recountCmd `cmd:"" help:"Count again what integrators and the public see, and say what differs."`

	Treasury   treasuryCmd   `cmd:"" help:"Show what is in the wallets, and book what you put in."`
	Integrator integratorCmd `cmd:"" help:"Make integrators and change what they may use and earn."`
	Key        keyCmd        `cmd:"" help:"Issue and revoke the keys of integrators."`
	Operator   operatorCmd   `cmd:"" help:"Make tokens for operators, and read and check what they did."`

	Wallet walletCmd `cmd:"" help:"Make and restore the seed of the keys, show their addresses, and bring deposits home."`
	Signer signerCmd `cmd:"" help:"Keep the keys in a process of its own, and sign what the service wishes."`

	Version versionCmd `cmd:"" help:"Show the version."`
}

const description = `Ferry swaps and bridges assets between chains, never pays an order twice and never loses one.

Examples:
  ferry sim --orders 1000
  ferry check --config ferry.toml
  ferry migrate --db sqlite:ferry.db`

// output is where a command writes: results to Out, progress and errors to Err.
type output struct{ Out, Err io.Writer }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], &output{Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

// run is main without the process around it.
func run(ctx context.Context, args []string, out *output) int {
	leave := -1
	parser, err := kong.New(&cli{},
		kong.Name("ferry"), kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Writers(out.Out, out.Err), kong.Exit(func(code int) { leave = code }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(out),
	)
	if err != nil {
		return say(out, err, exitUsage)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	cmd, err := parser.Parse(args)
	if leave >= 0 { // the help was asked for and shown
		return leave
	}
	if err != nil {
		return say(out, fmt.Errorf("%w; see ferry --help", err), exitUsage)
	}
	if err := cmd.Run(); err != nil {
		return say(out, err, exitRefused)
	}
	return 0
}

// say prints an error, one line for each thing that is wrong. Some libraries
// break their sentences into indented lines; those are joined again.
func say(out *output, err error, code int) int {
	for line := range strings.Lines(strings.ReplaceAll(err.Error(), "\n\t", " ")) {
		fmt.Fprintln(out.Err, "ferry:", strings.TrimRight(line, "\n"))
	}
	return code
}
