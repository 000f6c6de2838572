package cctp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/devnet/cctp"
	"ferry/internal/devnet/devnettest"
)

var opened atomic.Uint64

func key(t testing.TB, name string) (k [32]byte) {
	t.Helper()
	return [32]byte(crypto.Keccak256([]byte(name)))
}

// bridge starts two chains that make blocks, without the bridge.
func bridge(t testing.TB) cctp.Spec {
	t.Helper()
	by := key(t, "deployer")
	k, err := crypto.ToECDSA(by[:])
	if err != nil {
		t.Fatal(err)
	}
	s := cctp.Spec{Key: k, Threshold: 2, Limit: big.NewInt(1000), Minters: []common.Address{{7}}}
	for _, a := range cctp.Keys(2) {
		s.Attesters = append(s.Attesters, crypto.PubkeyToAddress(a.PublicKey))
	}
	alloc := map[string]any{crypto.PubkeyToAddress(k.PublicKey).Hex(): map[string]any{"balance": "0x1000000000000000000"}}
	for i, domain := range []uint32{0, 6} {
		name := fmt.Sprintf("bridge-%d-%d", os.Getpid(), opened.Add(1))
		c, err := devnettest.Host(t).Open(t.Context(), name, "evm", false, map[string]any{"chainId": 31_600 + i, "finalDepth": 3, "alloc": alloc})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		if err := c.Do(t.Context(), "auto", map[string]any{"everyMs": 20}, nil); err != nil {
			t.Fatal(err)
		}
		s.Sides = append(s.Sides, cctp.Side{RPC: c.RPC, Domain: domain})
	}
	return s
}

// ask asks a node, and gives what it answers or says it refused.
func ask(t testing.TB, url, method string, params ...any) (result, refused string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url, "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var said struct {
		Result any
		Error  struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(said.Result), said.Error.Message
}

// view calls a contract from an address; arguments are words.
func view(t testing.TB, url string, from, to common.Address, signature string, args ...[]byte) (result, refused string) {
	t.Helper()
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, a := range args {
		data = append(data, a...)
	}
	return ask(t, url, "eth_call", map[string]any{"from": from, "to": to, "data": hexutil.Bytes(data)}, "latest")
}

func num(n int64) []byte { return common.BigToHash(big.NewInt(n)).Bytes() }

func word(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }

func TestABridgeIsPutThereOnceAndGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	s := bridge(t)
	half := s
	half.Sides = s.Sides[:1]
	if _, err := cctp.Deploy(t.Context(), half); err == nil {
		t.Error("a bridge of one side was made")
	}
	stopped, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	_, _ = cctp.Deploy(stopped, s) // wherever that is
	at, err := cctp.Deploy(t.Context(), s)
	if err != nil || at != cctp.At(s.Key) {
		t.Fatalf("got %+v, %v", at, err)
	}
	by := crypto.PubkeyToAddress(s.Key.PublicKey)
	counts := func() (out []string) {
		for _, side := range s.Sides {
			n, _ := ask(t, side.RPC, "eth_getTransactionCount", by, "latest")
			out = append(out, n)
		}
		return out
	}
	before := counts()
	if _, err := cctp.Deploy(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if after := counts(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("it was put there again: %v after %v", after, before)
	}
	if err := s.Give(t.Context(), s.Sides[1], common.Address{9}, big.NewInt(77)); err != nil {
		t.Fatal(err)
	}
	if got, _ := view(t, s.Sides[1].RPC, by, at.USDC, "balanceOf(address)", word(common.Address{9})); !strings.HasSuffix(got, "4d") {
		t.Errorf("the dollars are %s", got)
	}
}

// The contracts refuse as Circle's do.
func TestContractsRefuse(t *testing.T) {
	t.Parallel()
	s := bridge(t)
	at, err := cctp.Deploy(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	by, stranger := crypto.PubkeyToAddress(s.Key.PublicKey), common.Address{5}
	url := s.Sides[0].RPC
	const deposit = "depositForBurn(uint256,uint32,bytes32,address,bytes32,uint256,uint32)"
	// burnBy is a call of depositForBurn; other values than zero change the usual ones.
	burn := func(amount, domain int64, to common.Address, fee int64) [][]byte {
		return [][]byte{num(amount), num(domain), word(to), word(at.USDC), num(0), num(fee), num(2000)}
	}
	if err := s.Give(t.Context(), s.Sides[0], by, big.NewInt(5000)); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 376)
	sigs, err := cctp.Signatures(message, cctp.Keys(2)...)
	if err != nil {
		t.Fatal(err)
	}
	handIn := func(sigs []byte) [][]byte {
		padded := append(append([]byte{}, message...), make([]byte, 8)...)
		return [][]byte{num(64), num(64 + 32 + 384), num(376), padded, num(int64(len(sigs))), sigs, make([]byte, 31)}
	}
	for name, c := range map[string]struct {
		from, to  common.Address
		signature string
		args      [][]byte
		want      string
	}{
		"nothing":              {by, at.Messenger, deposit, burn(0, 6, by, 0), "Amount must be nonzero"},
		"nobody":               {by, at.Messenger, deposit, burn(5, 6, common.Address{}, 0), "Mint recipient must be nonzero"},
		"all of it a fee":      {by, at.Messenger, deposit, burn(5, 6, by, 5), "Max fee must be less than amount"},
		"no such domain":       {by, at.Messenger, deposit, burn(5, 3, by, 0), "No TokenMessenger for domain"},
		"its own domain":       {by, at.Messenger, deposit, burn(5, 0, by, 0), "No TokenMessenger for domain"},
		"not allowed":          {by, at.Messenger, deposit, burn(5, 6, by, 0), "exceeds allowance"},
		"minted by a stranger": {stranger, at.USDC, "mint(address,uint256)", [][]byte{word(stranger), num(1)}, "not a minter"},
		"burned by a stranger": {stranger, at.Minter, "burn(address,uint256)", [][]byte{word(at.USDC), num(1)}, "Caller not local TokenMessenger"},
		"a limit by a stranger": {
			stranger, at.Minter, "setMaxBurnAmountPerMessage(address,uint256)", [][]byte{word(at.USDC), num(1)}, "not the owner",
		},
		"above the limit":  {at.Messenger, at.Minter, "burn(address,uint256)", [][]byte{word(at.USDC), num(1001)}, "exceeds per tx limit"},
		"no such token":    {at.Messenger, at.Minter, "burn(address,uint256)", [][]byte{word(stranger), num(1)}, "not supported"},
		"no transmitter":   {stranger, at.Messenger, "handleReceiveFinalizedMessage(uint32,bytes32,uint32,bytes)", [][]byte{num(6), word(at.Messenger), num(2000), num(128), num(0)}, "Invalid message transmitter"},
		"no signatures":    {by, at.Transmitter, "receiveMessage(bytes,bytes)", handIn(nil), "Invalid attestation length"},
		"one signature":    {by, at.Transmitter, "receiveMessage(bytes,bytes)", handIn(sigs[:65]), "Invalid attestation length"},
		"the same twice":   {by, at.Transmitter, "receiveMessage(bytes,bytes)", handIn(append(append([]byte{}, sigs[:65]...), sigs[:65]...)), "Invalid signature"},
		"signed otherwise": {by, at.Transmitter, "receiveMessage(bytes,bytes)", handIn(append(append([]byte{}, sigs[65:]...), sigs[:65]...)), "Invalid"},
	} {
		if got, refused := view(t, url, c.from, c.to, c.signature, c.args...); !strings.Contains(refused, c.want) {
			t.Errorf("%s: got %s, refused with %q, want %q", name, got, refused, c.want)
		}
	}
}

func TestTheAttesterAnswersAsTheServiceDoes(t *testing.T) {
	t.Parallel()
	s := bridge(t)
	if _, err := cctp.Deploy(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	a := cctp.NewAttester(s, cctp.Keys(2), 1)
	server := httptest.NewServer(a)
	defer server.Close()
	nobody := "?transactionHash=0x" + strings.Repeat("1", 64)
	get := func(path string) (int, string) {
		t.Helper()
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	for path, want := range map[string]int{
		"/v2/messages/0" + nobody: 404, "/v2/messages/3" + nobody: 404, "/v2/messages/0": 400, "/v2/messages/x" + nobody: 400,
		"/v2/messages/0?transactionHash=0x12": 400, "/elsewhere": 404,
	} {
		if got, body := get(path); got != want {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
	a.Stop(true)
	if got, _ := get("/v2/messages/0" + nobody); got != 503 {
		t.Errorf("one that is stopped says %d", got)
	}
}
