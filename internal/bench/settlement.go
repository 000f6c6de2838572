package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/chain"
	"ferry/internal/dev"
	"ferry/internal/devnet"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
)

// P15: how much a service with many open orders adds to what the chain itself takes.
const (
	waitingOrders = 10_000
	paidOrders    = 60
	blockSeconds  = 1.0
	confirms      = 2
	overheadGoal  = 0.10 // of the blocks that are waited for
	overheadP99   = 250  // milliseconds
	idleGoal      = 5    // percent of a core
	idleFor       = 15 * time.Second
)

// runSettlement pays orders on a real node, among many that wait, and takes the time
// from the block that makes a deposit believed to the payout's bytes in the journal,
// which are broadcast in the same breath.
func runSettlement(ctx context.Context, o options) (err error) {
	d, stop, err := openSettlement(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := unlimited(ctx, d); err != nil {
		return err
	}
	progress("settlement: makes %d orders", waitingOrders)
	ids, err := makeOrders(ctx, d)
	if err != nil {
		return err
	}
	idle, err := idleCPU(ctx)
	if err != nil {
		return err
	}
	progress("settlement: pays %d of them", paidOrders)
	added, err := payAndTime(ctx, d, ids[:paidOrders])
	if err != nil {
		return err
	}
	slices.Sort(added)
	half, late := added[len(added)/2], added[len(added)*99/100]
	wait := blockSeconds * confirms * 1000
	o.report.add(result{Bench: "settlement", Name: "added to the blocks waited for, median", Unit: "of them", Ours: half / wait}.within(overheadGoal))
	o.report.add(result{Bench: "settlement", Name: "added, 99th of a hundred", Unit: "ms", Ours: late}.within(overheadP99))
	o.report.add(result{Bench: "settlement", Name: fmt.Sprintf("CPU while nothing happens with %d open orders", waitingOrders), Unit: "% of a core", Ours: idle}.within(idleGoal))
	return nil
}

// openSettlement starts local chains and a service on them.
func openSettlement(ctx context.Context) (*dev.Dev, func() error, error) {
	root, err := devnet.Root(".")
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "ferry-bench-settlement")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	d, err := dev.New(ctx, dev.Options{
		Dir: dir, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "bench", Log: slog.New(slog.DiscardHandler),
		Local:   &dev.Local{Root: root, Bare: true, Log: io.Discard, Say: func(line string) { progress("settlement: %s", line) }},
		Funding: 12 * time.Hour,
	})
	if err != nil {
		cancel()
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- d.Run(ctx, func() { close(ready) }) }()
	stop := func() error {
		cancel()
		return errors.Join(<-ended, os.RemoveAll(dir))
	}
	select {
	case err := <-ended:
		cancel()
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	case <-ready:
	}
	return d, stop, nil
}

// makeOrders makes orders that are to be paid on the first EVM chain.
func makeOrders(ctx context.Context, d *dev.Dev) (ids []order.ID, err error) {
	const body = `{"fromChainId":"ethereum","fromToken":"native","toChainId":"base","toToken":"native","amount":"4000000000000000","toAddress":"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}`
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(32)
	for range waitingOrders {
		g.Go(func() error {
			id, err := makeOrder(ctx, d, body)
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, id)
			return err
		})
	}
	return ids, g.Wait()
}

func makeOrder(ctx context.Context, d *dev.Dev, body string) (order.ID, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Card.API+"/v2/orders", bytes.NewBufferString(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Integrator-Key", d.Card.ServerKey)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var made struct {
		OrderID order.ID `json:"orderId"`
	}
	if err := json.Unmarshal(text, &made); err != nil || resp.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("no order: %d %.200s", resp.StatusCode, text)
	}
	return made.OrderID, nil
}

// idleCPU is what this process takes while nobody asks for anything.
func idleCPU(ctx context.Context) (float64, error) {
	before, at := cpuTime(), time.Now()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(idleFor):
	}
	return 100 * (cpuTime() - before).Seconds() / time.Since(at).Seconds(), nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of ourselves it never fails
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// payAndTime pays orders one by one and gives the milliseconds that were added to each.
func payAndTime(ctx context.Context, d *dev.Dev, ids []order.ID) (added []float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pool, err := rpc.New(rpc.Config{URLs: []string{d.Network.RPC(dev.Ethereum)}, Need: 1})
	if err != nil {
		return nil, err
	}
	blocks := &blockTimes{node: pool.Nodes()[0], at: map[uint64]time.Time{}}
	go blocks.follow(ctx)
	for i, id := range ids {
		o, err := d.DB.Order(ctx, id)
		if err != nil {
			return nil, err
		}
		if _, err := d.Network.Pay(ctx, o, money.Amount{}); err != nil {
			return nil, err
		}
		ms, err := addedTo(ctx, d, id, blocks)
		if err != nil {
			return nil, fmt.Errorf("order %d of %d: %w", i+1, len(ids), err)
		}
		added = append(added, ms)
	}
	return added, nil
}

// addedTo waits for an order's payout and says how long after its last block it was.
func addedTo(ctx context.Context, d *dev.Dev, id order.ID, blocks *blockTimes) (float64, error) {
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		r, err := d.DB.Transfer(ctx, send.ID(string(id)+"/payout"))
		if err != nil || len(r.Attempts) == 0 {
			time.Sleep(10 * time.Millisecond) // it is the service that is waited for
			continue
		}
		o, err := d.DB.Order(ctx, id)
		if err != nil {
			return 0, err
		}
		height, err := blocks.of(ctx, o.Deposits[0].Tx)
		if err != nil {
			return 0, err
		}
		at, ok := blocks.when(height + confirms - 1)
		if !ok {
			return 0, errors.New("the block of its deposit was not seen")
		}
		return float64(r.Attempts[0].At.Sub(at).Microseconds()) / 1000, nil
	}
	return 0, errors.New("it was not paid within a minute")
}

// blockTimes is when blocks came, as anybody who asks all the time sees it.
type blockTimes struct {
	node *rpc.Node

	mu sync.Mutex
	at map[uint64]time.Time
}

// of is the height of the block in which a transaction is.
func (b *blockTimes) of(ctx context.Context, tx chain.TxID) (height uint64, err error) {
	var receipt struct {
		BlockNumber string `json:"blockNumber"`
	}
	if err := b.node.Call(ctx, &receipt, "eth_getTransactionReceipt", string(tx)); err != nil {
		return 0, err
	}
	_, err = fmt.Sscanf(receipt.BlockNumber, "0x%x", &height)
	return height, err
}

func (b *blockTimes) follow(ctx context.Context) {
	for ctx.Err() == nil {
		var text string
		if b.node.Call(ctx, &text, "eth_blockNumber") == nil {
			var height uint64
			if _, err := fmt.Sscanf(text, "0x%x", &height); err == nil {
				b.mu.Lock()
				if _, seen := b.at[height]; !seen {
					b.at[height] = time.Now()
				}
				b.mu.Unlock()
			}
		}
		time.Sleep(4 * time.Millisecond) // as often as the figure needs
	}
}

func (b *blockTimes) when(height uint64) (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.at[height]
	return at, ok
}
