package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// asNodes has the test's own program be the one that is tested.
const asNodes = "FERRY_TEST_DEVNET_DATA"

func TestMain(m *testing.M) {
	if data := os.Getenv(asNodes); data != "" {
		if err := run(data); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// victim is the program with a chain and a rollup of it, which is to be killed.
type victim struct {
	*testing.T
	cmd     *exec.Cmd
	control string
	l1, l2  string // where they answer
	bridge  common.Address
}

func begin(t *testing.T, data string) *victim {
	t.Helper()
	v := &victim{T: t, cmd: exec.Command(os.Args[0])}
	v.cmd.Env = append(os.Environ(), asNodes+"="+data)
	if _, err := v.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := v.cmd.StdoutPipe()
	if err == nil {
		err = v.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.kill)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var hello struct {
		Control string `json:"control"`
	}
	if err == nil {
		err = json.Unmarshal(line, &hello)
	}
	if err != nil {
		t.Fatal(err)
	}
	v.control = hello.Control
	var at struct {
		RPC    string         `json:"rpc"`
		Bridge common.Address `json:"l1StandardBridge"`
	}
	v.post("/chains/below", `{"kind":"evm","durable":true,"spec":{"chainId":901,"finalDepth":2}}`, &at)
	v.l1 = at.RPC
	v.post("/chains/above", `{"kind":"evm","durable":true,"spec":{"chainId":902,"finalDepth":2,"rollup":{"of":"below","every":3,"challengeSeconds":9}}}`, &at)
	v.l2 = at.RPC
	v.post("/chains/above/rollup", `{}`, &at)
	v.bridge = at.Bridge
	return v
}

func (v *victim) kill() {
	_ = v.cmd.Process.Kill() // it may be dead already
	_ = v.cmd.Wait()
}

func (v *victim) post(path, in string, out any) {
	v.Helper()
	url := path
	if path[0] == '/' {
		url = v.control + path
	}
	resp, err := http.Post(url, "application/json", bytes.NewReader([]byte(in)))
	if err != nil {
		v.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", said)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(said, out)
	}
	if err != nil {
		v.Fatalf("%s %s: %v", path, in, err)
	}
}

// ask asks a node.
func (v *victim) ask(url string, out any, question string) {
	v.Helper()
	var a struct {
		Result json.RawMessage `json:"result"`
	}
	v.post(url, `{"jsonrpc":"2.0","id":1,`+question+`}`, &a)
	if err := json.Unmarshal(a.Result, out); err != nil {
		v.Fatalf("%s: %v in %s", question, err, a.Result)
	}
}

// deposit sends one unit up to somebody, and waits until it is in a block below.
func (v *victim) deposit(to common.Address) {
	v.Helper()
	data := crypto.Keccak256([]byte("depositETHTo(address,uint32,bytes)"))[:4]
	for _, word := range [][]byte{to[:], {3, 13, 64}, {96}, nil} { // 200,000 gas, and no words
		data = append(data, common.LeftPadBytes(word, 32)...)
	}
	var sent struct {
		Tx common.Hash `json:"tx"`
	}
	v.post("/chains/below/send", fmt.Sprintf(`{"to":%q,"value":"0x1","data":%q}`, v.bridge, hexutil.Encode(data)), &sent)
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		var r *struct {
			Status hexutil.Uint64 `json:"status"`
		}
		v.ask(v.l1, &r, fmt.Sprintf(`"method":"eth_getTransactionReceipt","params":[%q]`, sent.Tx))
		switch {
		case r != nil && r.Status == 1:
			return
		case r != nil || time.Now().After(end):
			v.Fatalf("the deposit: %+v", r)
		}
	}
}

func TestSweepKillsNeitherLoseNorDoubleADeposit(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any will do
	if text := os.Getenv("FERRY_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("replay with FERRY_TEST_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	data, bob := t.TempDir(), common.Address{0xb0}
	want := uint64(0)
	for range 5 {
		v := begin(t, data)
		v.post("/chains/below/auto", `{"everyMs":20}`, nil)
		v.post("/chains/above/auto", `{"everyMs":20}`, nil)
		for range 1 + random.IntN(3) {
			v.deposit(bob)
			want++
		}
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond) // so that it dies anywhere
		v.kill()
	}
	v := begin(t, data)
	for range 6 {
		v.post("/chains/below/mine", `{}`, nil)
		v.post("/chains/above/mine", `{}`, nil)
	}
	var got hexutil.Uint64
	v.ask(v.l2, &got, fmt.Sprintf(`"method":"eth_getBalance","params":[%q,"latest"]`, bob))
	if uint64(got) != want {
		t.Fatalf("%d deposits were made, and %d arrived", want, got)
	}
}
