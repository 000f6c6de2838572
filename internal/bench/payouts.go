package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/evm"
	"ferry/internal/family/rpc"
	"ferry/internal/family/solana"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/signer"
	"ferry/internal/store"
)

// How payouts are measured. A chain takes only so many payments: to be able to make
// more than it takes is worth nothing, and to be held up by ourselves is a fault. So the
// goal is a share of the less of what a client makes that does nothing else and of what
// the chain's blocks hold.
const (
	payoutsAtOnce = 40 // that wait when a step begins
	payoutGoal    = 0.80
	payoutDepth   = 2 // blocks that make one final
	// payoutsTogether is as many as the daemon goes on with at a time.
	payoutsTogether = 8
	// nodesAway is how long a question to somebody else's node takes, if it is near.
	nodesAway = 20 * time.Millisecond
)

// payer is a chain on which payouts are made, by the service and by a bare client.
type payer struct {
	name   string
	id     chain.ID
	node   *devnet.Chain
	url    string // where its node answers, as far away as is asked for
	on     send.Chain
	limit  float64 // payments a second that the chain's blocks hold; zero: what the machine takes
	amount money.Amount
	most   money.Amount // the budget of a fee
	to     func(i int) chain.Address
	// ready is called before each of the bare client's turns, and its time is not counted.
	ready func(ctx context.Context) error
	bare  func(ctx context.Context, n int) error
}

// runPayouts measures how many payouts a second are signed, stored and broadcast, with
// nodes on this machine and with nodes that are as far away as others' are.
func runPayouts(ctx context.Context, o options) error {
	for _, away := range []time.Duration{0, nodesAway} {
		if err := runPayoutsAt(ctx, o, away); err != nil {
			return err
		}
	}
	return nil
}

func runPayoutsAt(ctx context.Context, o options, away time.Duration) (err error) {
	b, closeAll, err := openPayouts(ctx, away)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	for _, p := range b.payers {
		name := fmt.Sprintf("%s, %d waiting, node %s away", p.name, payoutsAtOnce, away)
		d, err := interleave("payouts: "+name, o.rounds, pace, [2]side{
			func(int, int) (int, time.Duration, error) { return b.ours(ctx, p) },
			func(int, int) (int, time.Duration, error) { return b.bare(ctx, p) },
		})
		if err != nil {
			return err
		}
		beside := result{Bench: "payouts", Name: name + ", beside a bare client", Unit: "payouts/s"}
		if p.limit == 0 && away > 0 { // on one machine the node and we take each other's time
			beside.AtLeast = payoutGoal
		}
		o.report.add(beside.judged(d))
		if p.limit == 0 {
			continue
		}
		for i := range d.floor {
			d.floor[i] = min(d.floor[i], p.limit)
		}
		name += fmt.Sprintf(", beside the less of it and of the %.0f that blocks hold", p.limit)
		o.report.add(result{Bench: "payouts", Name: name, Unit: "payouts/s", AtLeast: payoutGoal}.judged(d))
	}
	return nil
}

// payouts is a store, the keys and the chains.
type payouts struct {
	away   time.Duration // how long a question to a node takes at least
	ends   []func()
	db     *store.DB
	keys   *signer.Signer
	payers []*payer
	made   int
}

// openPayouts starts real nodes and gives the hot wallets money on them.
func openPayouts(ctx context.Context, away time.Duration) (*payouts, func() error, error) {
	root, err := devnet.Root(".")
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "ferry-bench-payouts")
	if err != nil {
		return nil, nil, err
	}
	end := func() error { return os.RemoveAll(dir) }
	progress("payouts: builds the local chains")
	program, err := devnet.Build(ctx, root, dir, nil)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	host, err := devnet.Start(ctx, program, "", os.Stderr)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	b := &payouts{away: away}
	end = func() error {
		for _, e := range b.ends {
			e()
		}
		var err error
		if b.db != nil {
			err = b.db.Close()
		}
		return errors.Join(err, host.Close(), os.RemoveAll(dir))
	}
	if b.db, err = store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(dir, "payouts.db")}); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	if err := b.open(ctx, host); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return b, end, nil
}

func (b *payouts) open(ctx context.Context, host *devnet.Host) error {
	seed := sha256.Sum256([]byte("payouts"))
	ring, err := signer.NewRing(seed[:], map[chain.ID]signer.Net{
		payEVM: {Family: chain.EVM}, scanChain: {Family: chain.Bitcoin, Network: string(bitcoin.Regtest)}, solanaChain: {Family: chain.Solana},
	})
	if err != nil {
		return err
	}
	b.keys, err = signer.New(ring, signer.Policy{
		PerPayment: 1_000_000 * money.Dollar, PerHour: 1_000_000_000 * money.Dollar, FeeShare: money.Whole / 2, SmallFee: money.FromUint64(20_000), Now: time.Now,
	}, b.db, b.db)
	if err != nil {
		return err
	}
	for _, open := range []func(context.Context, *devnet.Host) (*payer, error){b.openEVM, b.openBitcoin, b.openSolana} {
		p, err := open(ctx, host)
		if err != nil {
			return err
		}
		b.payers = append(b.payers, p)
	}
	return nil
}

func (p *payer) mine(ctx context.Context, n int) error {
	return p.node.Do(ctx, "mine", object{"n": n}, nil)
}

// road is where a node answers as far away as is asked for.
func (b *payouts) road(to string) string {
	if b.away == 0 {
		return to
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * payoutsTogether}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(b.away) // that is what is measured
		text, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "no question", http.StatusBadRequest)
			return
		}
		q, err := http.NewRequestWithContext(r.Context(), http.MethodPost, to, bytes.NewReader(text)) // which can be asked again
		if err != nil {
			http.Error(w, "no question", http.StatusBadRequest)
			return
		}
		q.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(q)
		if err != nil {
			http.Error(w, "no answer", http.StatusBadGateway)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		_, _ = io.Copy(w, resp.Body) // a caller that went away asks again
	}))
	b.ends = append(b.ends, s.Close)
	return s.URL
}

func oneNode(url string) rpc.Config { return rpc.Config{URLs: []string{url}, Need: 1} }

// ours wishes payouts, and takes the time in which the room that sends has signed,
// stored and broadcast all of them. That they land once each is seen to afterwards.
func (b *payouts) ours(ctx context.Context, p *payer) (int, time.Duration, error) {
	ids := make([]send.ID, payoutsAtOnce)
	for i := range ids {
		b.made++
		now := time.Now()
		ids[i] = send.ID(fmt.Sprintf("ord_%d/payout", b.made))
		t := send.Transfer{
			ID: ids[i], Order: fmt.Sprintf("ord_%d", b.made), USD: money.Dollar, MaxFee: p.most, Deadline: now.Add(time.Hour), WishedAt: now,
			Call: chain.Call{Chain: p.id, From: order.HotWallet, To: p.to(b.made), Asset: p.id.Native(), Amount: p.amount},
		}
		if err := b.db.Wish(ctx, t, send.Cap{PerHour: 1_000_000_000 * money.Dollar}, now); err != nil {
			return 0, 0, err
		}
	}
	s := send.New(p.id, order.HotWallet, p.on, b.db)
	start := time.Now()
	if err := s.StepAtOnce(ctx, start, payoutsTogether); err != nil {
		return 0, 0, err
	}
	took := time.Since(start)
	return payoutsAtOnce, took, b.landed(ctx, p, s, ids)
}

// landed makes blocks until every payout is closed, and looks that each was sent once
// and landed.
func (b *payouts) landed(ctx context.Context, p *payer, s *send.Sender, ids []send.ID) error {
	for range 3 {
		if err := p.mine(ctx, payoutDepth+2); err != nil {
			return err
		}
		if err := s.StepAtOnce(ctx, time.Now(), payoutsTogether); err != nil {
			return err
		}
	}
	for _, id := range ids {
		r, err := b.db.Transfer(ctx, id)
		if err != nil {
			return err
		}
		if r.Open || r.Result.Fate != chain.Final || len(r.Attempts) != 1 {
			return fmt.Errorf("payout %s ended as %v after %d attempts (open: %t)", id, r.Result.Fate, len(r.Attempts), r.Open)
		}
	}
	return nil
}

// bare lets a client that does nothing else sign and broadcast as many payments.
func (b *payouts) bare(ctx context.Context, p *payer) (int, time.Duration, error) {
	if err := p.ready(ctx); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := p.bare(ctx, payoutsAtOnce); err != nil {
		return 0, 0, err
	}
	took := time.Since(start)
	return payoutsAtOnce, took, p.mine(ctx, payoutDepth+2)
}

// send broadcasts one payment of a bare client.
func (p *payer) send(ctx context.Context, n *rpc.Node, method string, params ...any) error {
	var said string
	return n.Call(ctx, &said, method, params...)
}

var (
	_ send.Chain = (*evm.Chain)(nil)
	_ send.Chain = (*bitcoin.Chain)(nil)
	_ send.Chain = (*solana.Chain)(nil)
)
