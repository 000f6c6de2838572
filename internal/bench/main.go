package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are what the caller may say.
type options struct {
	rounds int
	length time.Duration // of a timed round
	many   int           // orders in the large table
	engine string        // the only one to run on; empty is both
	filled int           // orders of the integrator of me
	report *report
}

// bench is one measurement.
type bench struct {
	name string
	run  func(context.Context, options) error
}

var benches = []bench{
	{"apply", runApply},
	{"tell", runTell},
	{"memory", runMemory},
	{"flat", runFlat},
	{"door", runDoor},
	{"gateway", runGateway},
	{"quota", runQuota},
	{"quote", runQuote},
	{"pool-quotes", runPoolQuotes},
	{"create", runCreate},
	{"me", runMe},
	{"proofs", runProofs},
	{"pools", runPools},
	{"routes", runRoutes},
	{"scan-bitcoin", runScanBitcoin},
	{"scan-evm", runScanEVM},
	{"scan-solana", runScanSolana},
	{"payouts", runPayouts},
	{"settlement", runSettlement},
	{"listeners", runListeners},
	{"sockets-memory", runSocketsMemory},
	{"fanout", runFanout},
	{"fanout-p99", runFanoutLate},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	o := options{report: &report{}}
	only := flag.String("only", "", "run these only: "+names(", "))
	asJSON := flag.Bool("json", os.Getenv("JSON") == "1", "print one object for machines; the variable JSON=1 says the same")
	flag.IntVar(&o.rounds, "rounds", 7, "rounds of each measurement, at least 5")
	flag.DurationVar(&o.length, "length", time.Second, "how long a timed round takes")
	flag.IntVar(&o.many, "many", 1_000_000, "orders in the large table of flat")
	flag.IntVar(&o.filled, "fill", fillFromEnv(), "orders of the integrator of me; the variable FILL says the same")
	flag.StringVar(&o.engine, "engine", "", "run on this engine only: SQLite or PostgreSQL")
	child := flag.String("child", "", "for the bench itself: measure the memory of a daemon over this database")
	server := flag.String("serve", "", "for the bench itself: be this server")
	listening := flag.String("crowd", "", "for the bench itself: be so many connections to a server")
	database := flag.String("database", "", "for the bench itself: the database of the server")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *child != "" {
		return measureDaemon(ctx, *child)
	}
	if *listening != "" {
		return runCrowd(*listening)
	}
	if *server != "" {
		if *database == "" {
			return serve(ctx, *server)
		}
		end, err := profiled(*profile)
		if err != nil {
			return err
		}
		return errors.Join(runServer(ctx, *server, *database), end())
	}
	if o.rounds < 5 || o.many <= fewOrders || o.length <= 0 {
		return fmt.Errorf("want at least 5 rounds of some length and more than %d orders", fewOrders)
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	end, err := profiled(*profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()

	begun, start, load := time.Now(), readCPU(), loadAverage()
	for _, b := range chosen {
		if err := b.run(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	o.report.machine(load, readCPU().since(start), time.Since(begun))
	if err := o.report.print(os.Stdout, *asJSON); err != nil {
		return err
	}
	return o.report.missed()
}

// choose finds the benches that were asked for; none named is all of them.
func choose(only string) ([]bench, error) {
	if only == "" {
		return benches, nil
	}
	var chosen []bench
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(benches, func(b bench) bool { return b.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no bench %q; there are %s", name, names(", "))
		}
		chosen = append(chosen, benches[i])
	}
	return chosen, nil
}

func names(between string) string {
	var all []string
	for _, b := range benches {
		all = append(all, b.name)
	}
	return strings.Join(all, between)
}

// progress says on standard error what is being done.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+"  "+format+"\n", args...)
}
