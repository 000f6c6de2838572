package solana_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"ferry/internal/family/familytest"
)

// node stands in front of the one real node and misbehaves when it is told to.
type node struct {
	t       testing.TB
	server  *httptest.Server
	real    string
	mu      sync.Mutex
	trouble familytest.Trouble
	// bend changes answers in a way of its own: it gets the method and the result, and
	// gives another result, or an error of JSON-RPC.
	bend func(method string, params []any, result any) (any, object)
}

func newNode(t testing.TB, real string) *node {
	n := &node{t: t, real: real}
	n.server = httptest.NewServer(n)
	t.Cleanup(n.server.Close)
	return n
}

func (n *node) url() string { return n.server.URL }

func (n *node) set(t familytest.Trouble) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trouble = t
}

func (n *node) bends(f func(method string, params []any, result any) (any, object)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bend = f
}

type wire struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Params []any  `json:"params"`
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	trouble, bend := n.trouble, n.bend
	n.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if trouble == familytest.Down {
		http.Error(w, "gone", http.StatusServiceUnavailable)
		return
	}
	var q wire
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if trouble == familytest.Hasty {
		body = bytes.ReplaceAll(body, []byte(`"finalized"`), []byte(`"confirmed"`))
	}
	if trouble == familytest.Hiding && q.Method == "sendTransaction" {
		n.say(w, q, "swallowed", nil)
		return
	}
	plain := bend == nil && !slices.Contains([]familytest.Trouble{familytest.Deaf, familytest.Forging, familytest.Hiding, familytest.Forgetting, familytest.Hasty, familytest.Stuttering, familytest.Shuffling}, trouble)
	said := n.forward(r, body, trouble)
	if trouble == familytest.Stuttering && q.Method == "sendTransaction" {
		said = n.forward(r, body, trouble)
	}
	if plain || said == nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(said)
		return
	}
	var a struct {
		Result any    `json:"result"`
		Error  object `json:"error"`
	}
	d := json.NewDecoder(bytes.NewReader(said))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if trouble == familytest.Deaf {
		n.say(w, q, nil, object{"code": -32000, "message": "it fell over"})
		return
	}
	if bend != nil {
		if a.Error == nil {
			a.Result, a.Error = bend(q.Method, q.Params, a.Result)
		}
		n.say(w, q, a.Result, a.Error)
		return
	}
	v, e := lie(trouble, q, a.Result, a.Error)
	n.say(w, q, v, e)
}

func (n *node) forward(r *http.Request, body []byte, trouble familytest.Trouble) []byte {
	f, err := http.NewRequestWithContext(r.Context(), http.MethodPost, n.real, bytes.NewReader(body))
	if err != nil {
		return nil
	}
	f.Header.Set("Content-Type", "application/json")
	if trouble == familytest.Behind {
		f.Header.Set("X-Behind", "2")
	}
	resp, err := http.DefaultClient.Do(f)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	return said
}

func (n *node) say(w http.ResponseWriter, q wire, result any, err object) {
	w.Header().Set("Content-Type", "application/json")
	out := object{"jsonrpc": "2.0", "id": q.ID}
	if err != nil {
		out["error"] = err
	} else {
		out["result"] = result
	}
	_ = json.NewEncoder(w).Encode(out)
}

// lie is what a node says that does not say what is so.
func lie(t familytest.Trouble, q wire, v any, e object) (any, object) {
	if e != nil && t != familytest.Forging {
		return v, e
	}
	switch t {
	case familytest.Forging:
		return forge(q, v, e)
	case familytest.Hiding:
		return hide(q, v), nil
	case familytest.Forgetting:
		return forget(q, v), nil
	case familytest.Hasty:
		return hurry(q, v), nil
	case familytest.Stuttering, familytest.Shuffling:
		return relist(t, q, v), nil
	}
	return v, e
}

func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

// value is that of an answer about state.
func value(v any) any {
	o, _ := v.(object)
	return o["value"]
}

func withValue(v, inner any) any {
	o, _ := v.(object)
	return object{"context": o["context"], "value": inner}
}

func forge(q wire, v any, e object) (any, object) {
	switch q.Method {
	case "getSlot", "getMinimumBalanceForRentExemption":
		return number(v) + 1, nil
	case "getBlockHeight":
		return number(v) + 1000, nil
	case "getBlocksWithLimit":
		return []any{number(json.Number("9")) + 100_000}, nil
	case "getRecentPrioritizationFees":
		for _, x := range v.([]any) {
			o := x.(object)
			o["prioritizationFee"] = number(o["prioritizationFee"]) * 1000
		}
	case "getBalance":
		return withValue(v, number(value(v))+int64(1000*oneSOL)), nil
	case "getAccountInfo":
		if value(v) == nil {
			return withValue(v, object{"lamports": 5, "owner": "Vote111111111111111111111111111111111111111", "data": []string{"AAAA", "base64"}}), nil
		}
		return withValue(v, nil), nil
	case "getMultipleAccounts":
		list, _ := value(v).([]any)
		for _, x := range list {
			if o, ok := x.(object); ok {
				o["lamports"] = number(o["lamports"]) + int64(1000*oneSOL)
			}
		}
	case "getSignatureStatuses":
		return withValue(v, []any{object{"slot": 7, "err": nil, "confirmationStatus": "finalized"}}), nil
	case "getTransaction":
		if o, ok := v.(object); ok {
			o["slot"] = number(o["slot"]) + 1
		}
	case "getBlock":
		if e != nil {
			return object{"blockhash": "forged", "previousBlockhash": "forged", "parentSlot": 0, "blockHeight": 1, "blockTime": 1, "transactions": []any{}}, nil
		}
		forgeBlock(v)
	}
	return v, e
}

// forgeBlock makes every payment of a block a larger one.
func forgeBlock(v any) {
	o, ok := v.(object)
	if !ok {
		return
	}
	list, full := o["transactions"].([]any)
	if !full {
		o["blockhash"] = "forged" + o["blockhash"].(string)
		return
	}
	for _, x := range list {
		meta := x.(object)["meta"].(object)
		post := meta["postBalances"].([]any)
		for i := range post {
			post[i] = number(post[i]) + int64(oneSOL)
		}
	}
}

func hide(q wire, v any) any {
	switch q.Method {
	case "getBlocksWithLimit":
		return []any{}
	case "getBlock":
		if o, ok := v.(object); ok && o["transactions"] != nil {
			o["transactions"] = []any{}
		}
	case "getBalance":
		return withValue(v, 0)
	case "getAccountInfo":
		return withValue(v, nil)
	case "getMultipleAccounts":
		list, _ := value(v).([]any)
		return withValue(v, make([]any, len(list)))
	}
	return forget(q, v)
}

func forget(q wire, v any) any {
	switch q.Method {
	case "getSignatureStatuses":
		return withValue(v, []any{nil})
	case "getTransaction":
		return nil
	}
	return v
}

func hurry(q wire, v any) any {
	if q.Method == "getSignatureStatuses" {
		for _, x := range value(v).([]any) {
			if o, ok := x.(object); ok {
				o["confirmationStatus"] = "finalized"
			}
		}
	}
	return v
}

func relist(t familytest.Trouble, q wire, v any) any {
	turn := func(v any) any {
		list, ok := v.([]any)
		if !ok {
			return v
		}
		if t == familytest.Stuttering {
			return append(slices.Clone(list), list...)
		}
		slices.Reverse(list)
		return list
	}
	switch q.Method {
	case "getBlock":
		if o, ok := v.(object); ok && o["transactions"] != nil {
			o["transactions"] = turn(o["transactions"])
		}
	case "getBlocksWithLimit", "getRecentPrioritizationFees":
		return turn(v)
	}
	return v
}
