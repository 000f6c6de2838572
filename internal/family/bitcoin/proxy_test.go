package bitcoin_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"ferry/internal/family/familytest"
)

// proxy stands before the real node and misbehaves as it is told.
type proxy struct {
	*local
	server *httptest.Server

	mu      sync.Mutex
	trouble familytest.Trouble
	// twist, if there is one, changes an answer in a way of its own.
	twist func(method string, params []any, raw json.RawMessage, err error) (json.RawMessage, error)
}

func newProxy(l *local) *proxy {
	p := &proxy{local: l}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	l.t.Cleanup(p.server.Close)
	return p
}

func (p *proxy) set(t familytest.Trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = t
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []any           `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *nodeError      `json:"error,omitempty"`
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	trouble, twist := p.trouble, p.twist
	p.mu.Unlock()
	if trouble == familytest.Down {
		panic(http.ErrAbortHandler)
	}
	text, _ := io.ReadAll(r.Body)
	var all []request
	batch := bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
	if !batch {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	if err := json.Unmarshal(text, &all); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := make([]response, len(all))
	for i, q := range all {
		out[i] = response{Version: "2.0", ID: q.ID}
		raw, err := p.answer(trouble, q)
		if twist != nil {
			raw, err = twist(q.Method, q.Params, raw, err)
		}
		if err != nil && !errors.As(err, &out[i].Error) {
			out[i].Error = &nodeError{-1, err.Error()}
		}
		if out[i].Result = raw; raw == nil {
			out[i].Result = json.RawMessage("null")
		}
	}
	if trouble == familytest.Shuffling {
		slices.Reverse(out)
	}
	if batch {
		_ = json.NewEncoder(w).Encode(out)
		return
	}
	_ = json.NewEncoder(w).Encode(out[0])
}

// The refusals of a node that does not have a thing.
var (
	noTx    = &nodeError{-5, "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."}
	noBlock = &nodeError{-5, "Block not found"}
	tooHigh = &nodeError{-8, "Block height out of range"}
)

func (p *proxy) answer(t familytest.Trouble, q request) (json.RawMessage, error) {
	if t == familytest.Hiding && q.Method == "sendrawtransaction" {
		return pack(fake), nil // it never comes to the node
	}
	raw, err := p.call(q.Method, q.Params...)
	switch t {
	case familytest.Deaf:
		return nil, &nodeError{-1, "an error after it was done"}
	case familytest.Behind:
		return p.behind(q, raw, err)
	case familytest.Forging:
		return p.forging(q, raw, err)
	case familytest.Hiding:
		return p.hiding(q, raw, err)
	case familytest.Forgetting:
		if q.Method == "getrawtransaction" || q.Method == "getmempoolentry" {
			return nil, noTx
		}
		if q.Method == "getrawmempool" {
			return json.RawMessage("[]"), nil
		}
	case familytest.Hasty:
		return edit(raw, func(f fields) { deeper(f, 1000) }), err
	case familytest.Stuttering, familytest.Shuffling:
		return p.listing(t, q, raw, err)
	}
	return raw, err
}

// edit changes an answer that is an object.
func edit(raw json.RawMessage, change func(f fields)) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var f fields
	if d.Decode(&f) != nil || f == nil {
		return raw
	}
	change(f)
	return pack(f)
}

func pack(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func deeper(f fields, by int64) {
	if n, ok := f["confirmations"].(json.Number); ok {
		v, _ := n.Int64()
		f["confirmations"] = v + by
	}
}

// listing says everything twice, or in another order.
func (p *proxy) listing(t familytest.Trouble, q request, raw json.RawMessage, err error) (json.RawMessage, error) {
	change := func(list []any) []any {
		if t == familytest.Stuttering {
			return slices.Concat(list, list)
		}
		list = slices.Clone(list)
		slices.Reverse(list)
		return list
	}
	switch q.Method {
	case "sendrawtransaction":
		if t == familytest.Stuttering {
			return p.call(q.Method, q.Params...)
		}
	case "getrawmempool":
		var list []any
		if json.Unmarshal(raw, &list) == nil {
			return pack(change(list)), err
		}
	case "scantxoutset":
		return edit(raw, func(f fields) {
			if list, ok := f["unspents"].([]any); ok {
				f["unspents"] = change(list)
			}
		}), err
	}
	return raw, err
}

// behind answers from two blocks ago.
func (p *proxy) behind(q request, raw json.RawMessage, err error) (json.RawMessage, error) {
	t := p.see()
	const blocks = 2
	view := max(0, t.tip()-blocks)
	text := func(i int) string {
		if i < len(q.Params) {
			s, _ := q.Params[i].(string)
			return s
		}
		return ""
	}
	switch q.Method {
	case "getblockchaininfo":
		return edit(raw, func(f fields) {
			f["blocks"], f["headers"], f["bestblockhash"] = view, view, t.hashes[view]
		}), err
	case "getblockcount":
		return pack(view), nil
	case "getbestblockhash":
		return pack(t.hashes[view]), nil
	case "getblockhash":
		if h, ok := q.Params[0].(float64); ok && int(h) > view {
			return nil, tooHigh
		}
	case "getblockheader", "getblock":
		if h := slices.Index(t.hashes, text(0)); h > view {
			return nil, noBlock
		}
		return edit(raw, func(f fields) { deeper(f, -blocks) }), err
	case "getrawtransaction":
		if h, ok := t.landed[text(0)]; ok && h > view {
			return nil, noTx
		}
		return edit(raw, func(f fields) { deeper(f, -blocks) }), err
	case "gettxout":
		n, _ := q.Params[1].(float64)
		s, ok := t.coin(outPoint(text(0), uint32(n)), view)
		if waits, _ := q.Params[2].(bool); waits && string(raw) == "null" && ok {
			if _, now := t.coin(outPoint(text(0), uint32(n)), t.tip()); now {
				return raw, err // a waiting transaction spends it
			}
		}
		if !ok {
			return json.RawMessage("null"), nil
		}
		return pack(fields{
			"bestblock": t.hashes[view], "confirmations": view - s.height + 1, "coinbase": s.coinbase,
			"value": btc(s.Value), "scriptPubKey": fields{"hex": hex.EncodeToString(s.PkScript)},
		}), nil
	case "scantxoutset":
		return p.scanAt(t, view, raw), err
	}
	return raw, err
}

// scanAt is a scan as it was at a height.
func (p *proxy) scanAt(t *truth, view int, raw json.RawMessage) json.RawMessage {
	return edit(raw, func(f fields) {
		list := []any{}
		script := ""
		if all, _ := f["unspents"].([]any); len(all) > 0 {
			script, _ = all[0].(map[string]any)["scriptPubKey"].(string)
		}
		for o, s := range t.made {
			if _, ok := t.coin(o, view); ok && hex.EncodeToString(s.PkScript) == script {
				list = append(list, fields{"txid": o.Hash.String(), "vout": o.Index, "scriptPubKey": script, "amount": btc(s.Value), "coinbase": s.coinbase, "height": s.height})
			}
		}
		f["unspents"], f["height"], f["bestblock"] = list, view, t.hashes[view]
	})
}

func btc(sat int64) json.Number { return json.Number(fmt.Sprintf("%d.%08d", sat/1e8, sat%1e8)) }

var fake = strings.Repeat("ab", 32)

// forging shows what is not there.
func (p *proxy) forging(q request, raw json.RawMessage, err error) (json.RawMessage, error) {
	switch q.Method {
	case "getblockchaininfo":
		return edit(raw, func(f fields) { f["blocks"], f["headers"], f["bestblockhash"] = p.see().tip()+5, p.see().tip()+5, fake }), err
	case "getblockhash":
		if h, ok := q.Params[0].(float64); ok && h > 0 {
			return pack(fake), nil // of every block but the first
		}
	case "getbestblockhash":
		return pack(fake), nil
	case "getblock":
		var text string
		if json.Unmarshal(raw, &text) == nil && len(text) > 200 {
			return pack(text[:len(text)-20] + "ffff" + text[len(text)-16:]), nil
		}
	case "getblockheader":
		var text string
		if json.Unmarshal(raw, &text) == nil && len(text) == 160 {
			return pack("ff" + text[2:]), nil
		}
		return edit(raw, func(f fields) { f["height"], f["confirmations"] = 1, 99 }), err
	case "getrawtransaction":
		if err != nil {
			return pack(fields{"blockhash": fake, "confirmations": 100}), nil
		}
		return edit(raw, func(f fields) { f["blockhash"], f["confirmations"] = fake, 100 }), nil
	case "gettxout":
		return pack(fields{"bestblock": fake, "confirmations": 100, "value": btc(77_000_000), "scriptPubKey": fields{"hex": "0014" + fake[:40]}}), nil
	case "getrawmempool":
		return pack([]string{fake}), nil
	case "scantxoutset":
		return edit(raw, func(f fields) {
			f["unspents"] = []any{fields{"txid": fake, "vout": 0, "amount": btc(5_000_000_000), "height": 1}}
		}), err
	case "estimatesmartfee":
		return pack(fields{"feerate": btc(900_000), "blocks": 2}), nil
	}
	return raw, err
}

// hiding shows nothing, and swallows what it is given.
func (p *proxy) hiding(q request, raw json.RawMessage, err error) (json.RawMessage, error) {
	switch q.Method {
	case "getblockhash":
		if h, ok := q.Params[0].(float64); ok && h > 0 && int(h) >= p.see().tip() {
			return nil, tooHigh
		}
	case "getblock", "getblockheader":
		return nil, noBlock
	case "getrawtransaction", "getmempoolentry":
		return nil, noTx
	case "gettxout":
		return json.RawMessage("null"), nil
	case "getrawmempool":
		return json.RawMessage("[]"), nil
	case "scantxoutset":
		return edit(raw, func(f fields) { f["unspents"] = []any{} }), err
	}
	return raw, err
}
