package dev

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/nodes"
	"ferry/internal/signer"
	"ferry/internal/store"
)

// Local says how real nodes are run on this machine.
type Local struct {
	Root  string            // the source tree, from which the nodes are built
	Fresh bool              // whatever an earlier network left is removed
	Say   func(line string) // hears of every step
	Log   io.Writer         // gets what the nodes say of their troubles
	// Host is where the nodes run; nil builds and starts it.
	Host *devnet.Host
	// Prefix stands before the names of the chains, where several networks share a host.
	Prefix string
	// Twin adds a second Bitcoin chain, so that every family has two assets to exchange.
	Twin bool
	// Bare leaves out the pools of the EVM chains and the tokens that only they trade,
	// where a network must be there soon or nothing but the service is measured.
	Bare bool
	// only are the chains that are started; nil is all of them.
	only []chain.ID
}

// Names of what a local network keeps in its folder.
const (
	stateFile = "network.json"
	chainsDir = "chains"
	binDir    = "bin"
)

// state is what a local network remembers of itself. It is written when everything is
// set up, so without it nothing was.
type state struct {
	Nodes  int              `json:"nodes"`  // which kind of nodes made it
	Seed   string           `json:"seed"`   // of its keys; nothing here is worth anything
	Secret string           `json:"secret"` // of the service
	Tokens map[chain.ID]ref `json:"tokens"`
	// Sweepers bring deposits home, by chain.
	Sweepers map[chain.ID]string `json:"sweepers"`
	// Intakes take payments for orders, by chain.
	Intakes map[chain.ID]string `json:"intakes"`
	// Rollup is the bridge between the EVM chains; nil where they know nothing of each other.
	Rollup *Rollup `json:"rollup,omitempty"`
	// Exchanges are Uniswap's contracts, by chain.
	Exchanges map[chain.ID]Exchange `json:"exchanges,omitempty"`
	// Dollars: the dollars of the EVM chains go from one to the other by CCTP.
	Dollars bool `json:"dollars,omitempty"`
	// Feeds are the price feeds on Ethereum, by symbol.
	Feeds map[string]string `json:"feeds"`
	// Simulated are chains whose nodes could not be had. They begin anew with each
	// start, and so everything does.
	Simulated []chain.ID `json:"simulated"`
}

// nodesMade counts up when nodes can not read what older ones wrote.
const nodesMade = 2

// ref is a token's name on its chain.
type ref string

// local is a network of real nodes that is being set up.
type local struct {
	opts  Local
	dir   string
	state state
	host  *devnet.Host
	db    *store.DB
	ring  *signer.Ring
	keys  nodes.Signer
	log   *slog.Logger
	now   func() time.Time
	net   *Network
	rpcs  map[chain.ID]string // where each chain answers
	roots map[chain.ID]string // the first block of chains that are known by it
}

// kept reads what an earlier network left; nothing if there is none to go on with.
func (l *local) kept() (found bool, err error) {
	text, err := os.ReadFile(filepath.Join(l.dir, stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &l.state)
	}
	if err != nil {
		return false, fmt.Errorf("what an earlier network left can not be read: %w; start over with --fresh", err)
	}
	switch {
	case l.opts.Fresh || len(l.state.Simulated) > 0:
		return false, nil
	case l.state.Nodes != nodesMade:
		return false, errors.New("what an earlier network left was made by other nodes, which these can not go on from; start over with --fresh")
	}
	return true, nil
}

// clear removes what an earlier network left.
func clear(dir string) error {
	names := []string{"dev.db", "dev.db-wal", "dev.db-shm", cardFile, stateFile, chainsDir}
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove what an earlier network left: %w", err)
		}
	}
	return nil
}

// start builds and starts the program of the nodes.
func (l *local) start(ctx context.Context) error {
	if l.host = l.opts.Host; l.host != nil {
		return nil
	}
	l.opts.Say("building the local chains (minutes the first time, seconds later)")
	program, err := devnet.Build(ctx, l.opts.Root, filepath.Join(l.dir, binDir), func(n int) {
		l.opts.Say(fmt.Sprintf("building the local chains: %d packages so far", n))
	})
	if err != nil {
		return err
	}
	if l.host, err = devnet.Start(ctx, program, filepath.Join(l.dir, chainsDir), l.opts.Log); err != nil {
		return err
	}
	return nil
}

// shut ends the nodes; those of a host that somebody else started go on.
func (l *local) shut() func() error {
	if l.opts.Host != nil {
		return nil
	}
	return l.host.Close
}

// born gives a new network its secrets.
func (l *local) born() {
	seed, secret := make([]byte, 32), make([]byte, 32)
	_, _ = rand.Read(seed)   // it never fails
	_, _ = rand.Read(secret) // nor here
	l.state = state{
		Nodes: nodesMade,
		Seed:  hex.EncodeToString(seed), Secret: hex.EncodeToString(secret),
		Tokens: map[chain.ID]ref{}, Sweepers: map[chain.ID]string{}, Intakes: map[chain.ID]string{}, Feeds: map[string]string{},
	}
}

// remember writes down that everything is set up.
func (l *local) remember() error {
	text, err := json.MarshalIndent(l.state, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(l.dir, stateFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// makeLocal starts real nodes and makes them ready for the service. What an earlier
// network left is gone on with where it is whole.
func makeLocal(ctx context.Context, d *Dev, o Options) (kept bool, err error) {
	l := &local{opts: *o.Local, dir: o.Dir, log: o.Log, now: d.now}
	if kept, err = l.kept(); err != nil {
		return false, err
	}
	if !kept {
		if err := clear(o.Dir); err != nil {
			return false, err
		}
		l.born()
	}
	if err := l.start(ctx); err != nil {
		return false, err
	}
	d.Network = &Network{shut: l.shut()} // whatever happens from here on, the nodes end
	if d.DB, err = store.Open(ctx, store.Config{URL: o.Database}); err != nil {
		return false, err
	}
	l.db = d.DB
	if err := l.open(ctx, !kept); err != nil {
		return false, err
	}
	d.Network = l.net
	l.opts.Say("opening the service")
	if err := l.join(ctx); err != nil {
		return false, err
	}
	d.secret = l.state.Secret
	if err := l.quoted(); err != nil {
		return false, err
	}
	if err := l.bridge(ctx); err != nil {
		return false, err
	}
	if kept {
		return true, nil
	}
	d.whole = l.remember
	return false, nil
}
