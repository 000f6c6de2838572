package bitcoin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/familytest"
	"ferry/internal/family/rpc"
	"ferry/internal/watch"
)

// startBtcd builds the btcd program from the module of the local chains and runs it.
func startBtcd(t *testing.T) (url string) {
	t.Helper()
	root, err := devnet.Root(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "btcd")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/btcsuite/btcd")
	build.Dir, build.Env = filepath.Join(root, "devnet"), append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build btcd: %v\n%s", err, said)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program, "--regtest", "--txindex", "--notls", "--nolisten", "--nodnsseed", "--rejectnonstd",
		"--configfile="+filepath.Join(dir, "none"), "--datadir="+filepath.Join(dir, "data"), "--logdir="+filepath.Join(dir, "log"),
		"--rpcuser=u", "--rpcpass=p", "--rpclisten="+at)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill() // it has nothing to lose
		_ = run.Wait()
	})
	return "http://u:p@" + at
}

// TestARealNodeSaysTheSame feeds the blocks of a local chain to the btcd program: it
// must take them, and say of them what our handler says, word for word where Core's
// dialect is btcd's too. It also reads them through the family.
func TestARealNodeSaysTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{maturity: 100})
	pool, err := rpc.New(rpc.Config{URLs: []string{startBtcd(t)}, Need: 1, Rest: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	btcd := pool.Nodes()[0]
	other := func(method string, params ...any) (json.RawMessage, error) {
		var out json.RawMessage
		err := btcd.Call(t.Context(), &out, method, params...)
		return out, err
	}
	awake(t, func() error { _, err := other("getblockcount"); return err })
	to := b.Address("deposit")
	paid := b.Pay(familytest.Payment{Outs: []familytest.Out{{To: to, Amount: sat(123_456)}}})
	b.Mine(2)
	truth := b.see()
	for h := 1; h <= truth.tip(); h++ {
		said, err := other("submitblock", ask[string](b.local, "getblock", truth.hashes[h], 0))
		if err != nil || (len(said) > 0 && string(said) != "null") {
			t.Fatalf("block %d is refused: %s %v", h, said, err)
		}
	}
	waits := b.draft(b.callTo(b.Address("bob"), 100_000), 10_000)
	b.send(waits)
	if _, err := other("sendrawtransaction", hexOf(waits.Raw)); err != nil {
		t.Fatal(err)
	}
	alike := func(method string, params ...any) {
		t.Helper()
		ours, err := b.call(method, params...)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := other(method, params...)
		if err != nil {
			t.Fatalf("%s%v: ours said %s, btcd %v", method, params, ours, err)
		}
		if plain(t, ours) != plain(t, theirs) {
			t.Errorf("%s%v\nours %s\nbtcd %s", method, params, plain(t, ours), plain(t, theirs))
		}
	}
	for _, h := range []int{0, 1, truth.tip() - 1, truth.tip()} {
		alike("getblockhash", h)
		alike("getblockheader", truth.hashes[h], false)
		alike("getblock", truth.hashes[h], 0)
	}
	alike("getbestblockhash")
	alike("getblockcount")
	alike("getrawmempool")
	alike("getrawtransaction", paid)
	alike("getrawtransaction", waits.Tx)
	alike("gettxout", decode(t, waits.Raw).TxIn[0].PreviousOutPoint.Hash, decode(t, waits.Raw).TxIn[0].PreviousOutPoint.Index, false)
	readThrough(t, b, btcd, to)
}

// readThrough reads the chain by the family from btcd alone.
func readThrough(t *testing.T, b *bench, btcd *rpc.Node, to chain.Address) {
	t.Helper()
	p := newProxy(b.local) // it only says what btcd does not know
	p.twist = func(method string, params []any, raw json.RawMessage, err error) (json.RawMessage, error) {
		if method == "getblockchaininfo" || method == "getindexinfo" {
			return raw, err
		}
		var out json.RawMessage
		if err := btcd.Call(context.Background(), &out, method, params...); err != nil {
			return nil, refused(err)
		}
		return out, nil
	}
	c, err := bitcoin.New(t.Context(), bitcoin.Config{
		ID: regtest, Network: bitcoin.Regtest, FinalDepth: depth, Nodes: rpc.Config{URLs: []string{p.server.URL}, Need: 1},
	}, b.ring)
	if err != nil {
		t.Fatal(err)
	}
	head, err := c.Head(t.Context())
	if err != nil || int(head.Tip.Height) != b.see().tip() {
		t.Fatalf("the head is %v, %v", head, err)
	}
	var found []chain.Deposit
	for h := uint64(0); h <= head.Tip.Height; h++ {
		block, err := c.Next(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.Deposits(t.Context(), block, set{to})
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, list...)
	}
	if want := b.Received(to); len(found) != 1 || found[0] != want[0] {
		t.Fatalf("found %v, want %v", found, want)
	}
	if _, err := c.Next(t.Context(), head.Tip.Height+1); err == nil || !strings.Contains(err.Error(), watch.ErrNoBlock.Error()) {
		t.Fatalf("above the tip it is %v", err)
	}
}

// refused is the refusal of a node as a node gives it.
func refused(err error) error {
	var code int
	text := err.Error()
	if i := strings.Index(text, "node answered "); i >= 0 {
		if _, e := fmt.Sscanf(text[i:], "node answered %d:", &code); e == nil {
			return &nodeError{code, text[i:]}
		}
	}
	return err
}

// awake waits until something goes well.
func awake(t *testing.T, try func() error) {
	t.Helper()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// plain is an answer without what the two dialects tell apart.
func plain(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	raw = edit(raw, func(f fields) {
		if s, ok := f["scriptPubKey"].(map[string]any); ok {
			f["scriptPubKey"] = s["hex"]
		}
		if n, ok := f["value"].(json.Number); ok {
			v, _ := n.Float64()
			f["value"] = v
		}
		delete(f, "version")
	})
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
