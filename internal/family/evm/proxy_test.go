package evm_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/internal/family/familytest"
)

// proxy stands before a real node and misbehaves.
type proxy struct {
	up string

	mu      sync.Mutex
	trouble familytest.Trouble
	bend    func(q *question, result any) any // a lie of a test's own; nil is none
}

// question is one call with its answer.
type question struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

func newProxy(t testing.TB, up string) (*proxy, string) {
	p := &proxy{up: up}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	return p, srv.URL
}

func (p *proxy) set(t familytest.Trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = t
}

// lie makes the proxy bend answers; nil makes it honest.
func (p *proxy) lie(bend func(q *question, result any) any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bend = bend
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	trouble, bend := p.trouble, p.bend
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if trouble == familytest.Down {
		http.Error(w, "no", http.StatusBadGateway)
		return
	}
	if trouble == familytest.None && bend == nil {
		_, _ = w.Write(p.post(body))
		return
	}
	v := &view{proxy: p, trouble: trouble, bend: bend}
	if body[0] != '[' {
		var q question
		must0(json.Unmarshal(body, &q))
		must0(json.NewEncoder(w).Encode(v.answer(&q)))
		return
	}
	var all []question
	must0(json.Unmarshal(body, &all))
	out := make([]reply, len(all))
	for i := range all {
		out[i] = v.answer(&all[i])
	}
	if trouble == familytest.Shuffling {
		slices.Reverse(out)
	}
	must0(json.NewEncoder(w).Encode(out))
}

// plainly asks a node on this machine, where packing answers only costs time.
var plainly = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}}

func (p *proxy) post(body []byte) []byte {
	resp, err := plainly.Post(p.up, "application/json", bytes.NewReader(body))
	if err != nil {
		return []byte("gone")
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return []byte("gone")
	}
	return said
}

func (p *proxy) call(method string, params ...any) any {
	body := must(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
	var out struct{ Result any }
	must0(json.Unmarshal(p.post(body), &out))
	return out.Result
}

// view is one answer in the making.
type view struct {
	*proxy
	trouble familytest.Trouble
	bend    func(q *question, result any) any
}

// rebuff is what a lie answers that is an error.
type rebuff map[string]any

var failed = map[string]any{"code": -32000, "message": "the node failed"}

func (v *view) answer(q *question) reply {
	out := reply{Version: "2.0", ID: q.ID}
	if v.trouble == familytest.Hiding && q.Method == "eth_sendRawTransaction" {
		out.Result = json.RawMessage(`"0x00"`)
		return out
	}
	if v.trouble == familytest.Behind && !v.rewind(q) {
		out.Error = failed
		return out
	}
	if v.trouble == familytest.Hasty && len(q.Params) > 0 && (string(q.Params[0]) == `"finalized"` || string(q.Params[0]) == `"safe"`) {
		q.Params[0] = json.RawMessage(`"latest"`)
	}
	var said reply
	body := must(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": q.ID, "method": q.Method, "params": q.Params}))
	raw := v.post(body)
	if v.trouble == familytest.Stuttering && q.Method == "eth_sendRawTransaction" {
		raw = v.post(body)
	}
	must0(json.Unmarshal(raw, &said))
	if v.trouble == familytest.Deaf {
		out.Error = failed
		return out
	}
	if said.Error != nil {
		out.Error = said.Error
		return out
	}
	var result any
	must0(json.Unmarshal(said.Result, &result))
	if v.bend != nil {
		result = v.bend(q, result)
	}
	if no, ok := result.(rebuff); ok {
		out.Error = no
		return out
	}
	out.Result = must(json.Marshal(v.twist(q, result)))
	return out
}

// twist changes an answer as the trouble has it.
func (v *view) twist(q *question, result any) any {
	switch v.trouble {
	case familytest.Behind:
		return v.unseen(q, result)
	case familytest.Forging:
		return v.forge(q, result)
	case familytest.Hiding:
		return hide(q, result)
	case familytest.Forgetting:
		if q.Method == "eth_getTransactionReceipt" || q.Method == "eth_getTransactionByHash" {
			return nil
		}
	case familytest.Stuttering:
		return lists(q, result, func(l []any) []any { return append(slices.Clone(l), l...) })
	case familytest.Shuffling:
		return lists(q, result, func(l []any) []any { slices.Reverse(l); return l })
	}
	return result
}

// lag is how many blocks a node that is behind misses.
const lag = 2

func (v *view) tip() uint64 { return number(v.call("eth_blockNumber")) }

func number(x any) uint64 {
	s, ok := x.(string)
	if !ok {
		return 0
	}
	return must(hexutil.DecodeUint64(s))
}

// heightOf is the height of a block by its hash; false if there is none.
func (v *view) heightOf(hash string) (uint64, bool) {
	b, ok := v.call("eth_getBlockByHash", hash, false).(map[string]any)
	if !ok {
		return 0, false
	}
	return number(b["number"]), true
}

// rewind changes a question to one about some blocks ago; false if a node that is
// behind could not answer it.
func (v *view) rewind(q *question) bool {
	seen := v.tip() - lag
	for i, p := range q.Params {
		var text string
		var by struct {
			BlockHash string `json:"blockHash"`
		}
		switch {
		case json.Unmarshal(p, &text) == nil:
			switch text {
			case "latest", "pending":
				q.Params[i] = must(json.Marshal(hexutil.EncodeUint64(seen)))
			case "finalized", "safe":
				f, _ := v.call("eth_getBlockByNumber", text, false).(map[string]any)
				at := number(f["number"])
				q.Params[i] = must(json.Marshal(hexutil.EncodeUint64(at - min(at, lag))))
			}
			if q.Method == "eth_feeHistory" && i == 1 && number(text) > seen {
				return false
			}
		case json.Unmarshal(p, &by) == nil && by.BlockHash != "":
			if h, ok := v.heightOf(by.BlockHash); !ok || h > seen {
				return false
			}
		}
	}
	if q.Method == "debug_traceBlockByHash" {
		h, ok := v.heightOf(strings.Trim(string(q.Params[0]), `"`))
		return ok && h <= seen
	}
	return true
}

// unseen hides what stands in blocks that a node behind does not have.
func (v *view) unseen(q *question, result any) any {
	seen := v.tip() - lag
	m, ok := result.(map[string]any)
	if !ok {
		if l, isList := result.([]any); isList && q.Method == "eth_getBlockReceipts" && len(l) > 0 {
			if r, ok := l[0].(map[string]any); ok && number(r["blockNumber"]) > seen {
				return nil
			}
		}
		return result
	}
	switch q.Method {
	case "eth_getBlockByNumber", "eth_getBlockByHash":
		if number(m["number"]) > seen {
			return nil
		}
	case "eth_getTransactionReceipt":
		if number(m["blockNumber"]) > seen {
			return nil
		}
	case "eth_getTransactionByHash":
		if number(m["blockNumber"]) > seen {
			m["blockNumber"], m["blockHash"] = nil, nil
		}
	}
	return result
}

// hide shows less than there is.
func hide(q *question, result any) any {
	switch q.Method {
	case "eth_getBlockByNumber":
		if strings.HasPrefix(string(q.Params[0]), `"0x`) {
			return nil
		}
	case "eth_getBlockByHash":
		if m, ok := result.(map[string]any); ok {
			m["transactions"] = []any{}
		}
	case "eth_getBlockReceipts", "debug_traceBlockByHash":
		return []any{}
	case "eth_getTransactionReceipt", "eth_getTransactionByHash":
		return nil
	}
	return result
}

// lists changes the lists whose order means nothing.
func lists(q *question, result any, change func([]any) []any) any {
	if q.Method != "eth_getBlockReceipts" && q.Method != "debug_traceBlockByHash" {
		return result
	}
	all, ok := result.([]any)
	if !ok {
		return result
	}
	for _, x := range all {
		if m, ok := x.(map[string]any); ok {
			if logs, ok := m["logs"].([]any); ok {
				m["logs"] = change(logs)
			}
		}
	}
	return change(all)
}

// forge shows what is not there, and takes care that hashes fit where they can.
func (v *view) forge(q *question, result any) any {
	switch q.Method {
	case "eth_getBlockByNumber":
		m, ok := result.(map[string]any)
		if !ok {
			return v.forgeTop()
		}
		if strings.HasPrefix(string(q.Params[0]), `"0x`) {
			m["extraData"] = "0xbad0"
		} else if string(q.Params[0]) == `"latest"` {
			m["number"], m["parentHash"] = hexutil.EncodeUint64(number(m["number"])+1), m["hash"]
		}
		return rehash(m)
	case "eth_getBlockByHash":
		if m, ok := result.(map[string]any); ok {
			if txs, ok := m["transactions"].([]any); ok && len(txs) > 0 {
				m["transactions"] = append(txs, txs[0])
			}
		}
	case "eth_getBlockReceipts":
		forgeReceipts(result)
	case "debug_traceBlockByHash":
		forgeTrace(result)
	case "eth_getBalance", "eth_getTransactionCount", "eth_estimateGas":
		return hexutil.EncodeBig(new(big.Int).Add(must(hexutil.DecodeBig(result.(string))), big.NewInt(7)))
	case "eth_call":
		return "0x" + strings.Repeat("0f", 32)
	case "eth_feeHistory":
		if m, ok := result.(map[string]any); ok {
			m["reward"] = []any{[]any{"0xffffffffffff"}}
		}
	case "eth_getProof":
		if m, ok := result.(map[string]any); ok {
			m["accountProof"], m["balance"] = []any{"0xc0"}, "0xffffffffffffffffff"
		}
	case "eth_getTransactionReceipt":
		top, _ := v.call("eth_getBlockByNumber", "finalized", false).(map[string]any)
		return map[string]any{
			"transactionHash": json.RawMessage(q.Params[0]), "blockHash": top["hash"], "blockNumber": top["number"],
			"status": "0x1", "gasUsed": "0x5208", "effectiveGasPrice": "0x1",
		}
	case "eth_getTransactionByHash":
		return map[string]any{"hash": json.RawMessage(q.Params[0])}
	}
	return result
}

// forgeTop is a block that nobody made, on top of one that is there.
func (v *view) forgeTop() any {
	m, _ := v.call("eth_getBlockByNumber", "latest", false).(map[string]any)
	m["number"], m["parentHash"] = hexutil.EncodeUint64(number(m["number"])+1), m["hash"]
	return rehash(m)
}

// rehash gives a forged header the hash that it has.
func rehash(m map[string]any) any {
	var h types.Header
	must0(json.Unmarshal(must(json.Marshal(m)), &h))
	m["hash"] = h.Hash().Hex()
	return m
}

// forgeReceipts makes all that failed good, and pays everything twice.
func forgeReceipts(result any) {
	all, _ := result.([]any)
	for _, x := range all {
		m, ok := x.(map[string]any)
		if !ok {
			continue
		}
		m["status"] = "0x1"
		logs, _ := m["logs"].([]any)
		for _, l := range logs {
			if l, ok := l.(map[string]any); ok {
				l["data"] = hexutil.Encode(common.LeftPadBytes([]byte{1, 0, 0, 0, 0, 0, 0}, 32))
			}
		}
	}
}

// forgeTrace makes everybody richer.
func forgeTrace(result any) {
	all, _ := result.([]any)
	for _, x := range all {
		m, _ := x.(map[string]any)
		r, _ := m["result"].(map[string]any)
		post, _ := r["post"].(map[string]any)
		for _, a := range post {
			if a, ok := a.(map[string]any); ok && a["balance"] != nil {
				a["balance"] = "0xffffffffffffffffffff"
			}
		}
	}
}

func must[T any](v T, err error) T {
	must0(err)
	return v
}

func must0(err error) {
	if err != nil {
		panic(err)
	}
}
