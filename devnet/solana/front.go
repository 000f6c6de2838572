package solana

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Behind is the header by which a test asks for what a node would say that has not
// seen the newest blocks.
const Behind = "X-Behind"

type question struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

// asked is a question as one node sees it.
type asked struct {
	question
	view view
}

// param reads a parameter, if it is there.
func (q question) param(i int, into any) error {
	if i >= len(q.Params) {
		return nil
	}
	if err := json.Unmarshal(q.Params[i], into); err != nil {
		return &rpcError{Code: -32602, Message: "Invalid params: " + err.Error()}
	}
	return nil
}

// options are those of the last parameter that most methods have.
type options struct {
	Commitment         string
	TransactionDetails string
	SkipPreflight      bool
}

func (q question) options() (o options) {
	for i := len(q.Params) - 1; i >= 0; i-- {
		if json.Unmarshal(q.Params[i], &o) == nil {
			return o
		}
	}
	return o
}

// ServeHTTP answers JSON-RPC, one question or several.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		return
	}
	behind, _ := strconv.Atoi(r.Header.Get(Behind))
	w.Header().Set("Content-Type", "application/json")
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		var q question
		if err := json.Unmarshal(body, &q); err != nil {
			http.Error(w, "no JSON-RPC", http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(n.reply(r.Context(), q, behind))
		return
	}
	var all []question
	if err := json.Unmarshal(body, &all); err != nil {
		http.Error(w, "no JSON-RPC", http.StatusBadRequest)
		return
	}
	out := make([]object, len(all))
	for i, q := range all {
		out[i] = n.reply(r.Context(), q, behind)
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (n *Node) reply(ctx context.Context, q question, behind int) object {
	n.mu.Lock()
	v, err := n.answer(ctx, asked{q, n.ledger.view(behind, n.spec.Depth)})
	n.mu.Unlock()
	out := object{"jsonrpc": "2.0", "id": q.ID}
	var e *rpcError
	switch {
	case errors.As(err, &e):
		out["error"] = e
	case err != nil:
		out["error"] = &rpcError{Code: -32603, Message: err.Error()}
	default:
		out["result"] = v
	}
	return out
}

// context wraps a value as methods about state do.
func (n *Node) context(at int, v any) object {
	return object{"context": object{"apiVersion": "4.1.2", "slot": n.ledger.blocks[at].Slot}, "value": v}
}

func (n *Node) answer(ctx context.Context, q asked) (any, error) {
	at := q.view.at(q.options().Commitment)
	newest := n.ledger.blocks[at]
	switch q.Method {
	case "getSlot":
		return newest.Slot, nil
	case "getBlockHeight":
		return newest.Height, nil
	case "getFirstAvailableBlock", "minimumLedgerSlot":
		return 0, nil
	case "getGenesisHash":
		return n.genesis(), nil
	case "getHealth":
		return "ok", nil
	case "getBlocks", "getBlocksWithLimit":
		return n.listBlocks(q, at)
	case "getBlock":
		return n.getBlock(ctx, q, at)
	case "getTransaction":
		return n.getTransaction(ctx, q, at)
	case "getLatestBlockhash":
		n.active = time.Now()
		// A blockhash is good for 150 blocks above its own.
		return n.context(at, object{"blockhash": newest.Hash, "lastValidBlockHeight": newest.Height + 150}), nil
	case "getSignatureStatuses":
		return n.statuses(q)
	case "getRecentPrioritizationFees":
		out := []object{}
		for _, b := range n.ledger.blocks[max(0, q.view.tip-149) : q.view.tip+1] {
			out = append(out, object{"slot": b.Slot, "prioritizationFee": n.price})
		}
		return out, nil
	case "getBalance", "getAccountInfo", "getTokenAccountBalance":
		return n.state(ctx, q, at)
	case "getMultipleAccounts":
		return n.states(ctx, q, at)
	case "sendTransaction":
		return n.send(ctx, q)
	case "requestAirdrop":
		var f funding
		if err := errors.Join(q.param(0, &f.Address), q.param(1, &f.Amount)); err != nil {
			return nil, err
		}
		sig, err := n.fund(f)
		return sig, err
	}
	var v json.RawMessage
	params := make([]any, len(q.Params))
	for i, p := range q.Params {
		params[i] = p
	}
	err := n.svm.call(ctx, &v, q.Method, params...)
	return v, err
}

func (n *Node) listBlocks(q asked, at int) (any, error) {
	const mostSlots = 500_000
	var from, second uint64
	if err := errors.Join(q.param(0, &from), q.param(1, &second)); err != nil {
		return nil, err
	}
	if q.Method == "getBlocksWithLimit" {
		return n.ledger.slots(from, ^uint64(0), int(min(second, mostSlots)), at), nil
	}
	if second == 0 {
		second = from + mostSlots
	}
	return n.ledger.slots(from, second, mostSlots, at), nil
}

// getBlock tells a block: what was executed in it by the virtual machine, and the rest
// by the ledger.
func (n *Node) getBlock(ctx context.Context, q asked, at int) (any, error) {
	var slot uint64
	if err := q.param(0, &slot); err != nil {
		return nil, err
	}
	i, err := n.ledger.find(slot, at)
	if err != nil {
		return nil, err
	}
	b, out := n.ledger.blocks[i], object{}
	details := q.options().TransactionDetails
	if len(b.sigs) > 0 && details != "none" {
		how := object{}
		_ = q.param(1, &how)
		how["commitment"] = "processed"
		if err := n.svm.call(ctx, &out, "getBlock", slot, how); err != nil {
			return nil, err
		}
	} else if details == "" || details == "full" || details == "accounts" {
		out["transactions"] = []any{}
	}
	out["blockhash"], out["previousBlockhash"], out["parentSlot"] = b.Hash, b.Prev, b.Parent
	out["blockHeight"], out["blockTime"] = b.Height, b.Time
	return out, nil
}

func (n *Node) getTransaction(ctx context.Context, q asked, at int) (any, error) {
	var sig string
	if err := q.param(0, &sig); err != nil {
		return nil, err
	}
	p, ok := n.ledger.at[sig]
	if !ok || p.block > at {
		return nil, nil
	}
	how := object{}
	_ = q.param(1, &how)
	how["commitment"] = "processed"
	var out object
	if err := n.svm.call(ctx, &out, "getTransaction", sig, how); err != nil {
		return nil, err
	}
	out["slot"], out["blockTime"] = n.ledger.blocks[p.block].Slot, n.ledger.blocks[p.block].Time
	return out, nil
}

func (n *Node) statuses(q asked) (any, error) {
	var sigs []string
	if err := q.param(0, &sigs); err != nil {
		return nil, err
	}
	out := make([]any, len(sigs))
	for i, sig := range sigs {
		p, ok := n.ledger.at[sig]
		if !ok || p.block > q.view.tip {
			continue
		}
		s := object{"slot": n.ledger.blocks[p.block].Slot, "confirmations": q.view.tip - p.block, "err": p.err, "confirmationStatus": "confirmed"}
		if p.block <= q.view.final {
			s["confirmations"], s["confirmationStatus"] = nil, "finalized"
		}
		out[i] = s
	}
	return n.context(q.view.tip, out), nil
}
