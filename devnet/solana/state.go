package solana

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	sol "github.com/gagliardetto/solana-go"
)

// state answers a question about an account as it was when a block was sealed. The
// virtual machine knows what it is now; the ledger knows what was written since.
func (n *Node) state(ctx context.Context, q asked, at int) (any, error) {
	var account string
	if err := q.param(0, &account); err != nil {
		return nil, err
	}
	was, changed := n.ledger.since(account, at)
	if q.Method == "getBalance" && changed {
		return n.context(at, was.lamports), nil
	}
	if q.Method == "getTokenAccountBalance" {
		return n.tokenBalance(ctx, account, at)
	}
	how := object{}
	_ = q.param(1, &how)
	how["commitment"] = "processed"
	var out struct{ Value json.RawMessage }
	if err := n.svm.call(ctx, &out, q.Method, account, how); err != nil {
		return nil, err
	}
	if q.Method == "getBalance" || !changed {
		return n.context(at, out.Value), nil
	}
	v, err := before(out.Value, was)
	return n.context(at, v), err
}

// states answers for several accounts at once.
func (n *Node) states(ctx context.Context, q asked, at int) (any, error) {
	var accounts []json.RawMessage
	if err := q.param(0, &accounts); err != nil {
		return nil, err
	}
	all := make([]any, len(accounts))
	for i, a := range accounts {
		one := q
		one.Method, one.Params = "getAccountInfo", append([]json.RawMessage{a}, q.Params[1:]...)
		v, err := n.state(ctx, one, at)
		if err != nil {
			return nil, err
		}
		told, _ := v.(object)
		all[i] = told["value"]
	}
	return n.context(at, all), nil
}

// before is an account as it was before it was written to.
func before(now json.RawMessage, was touch) (any, error) {
	if was.lamports == 0 {
		return nil, nil
	}
	var v object
	if err := json.Unmarshal(now, &v); err != nil {
		return nil, err
	}
	if v == nil { // it was closed since
		v = object{"data": []any{"", "base64"}, "executable": false, "owner": sol.SystemProgramID.String(), "rentEpoch": 0, "space": 0}
	}
	v["lamports"] = was.lamports
	if was.token == "" {
		return v, nil
	}
	data, ok := v["data"].([]any)
	if !ok || len(data) == 0 {
		return v, nil
	}
	text, _ := data[0].(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	units, err2 := strconv.ParseUint(was.token, 10, 64)
	if err := errors.Join(err, err2); err != nil || len(raw) < 72 {
		return v, err
	}
	binary.LittleEndian.PutUint64(raw[64:], units) // behind its mint and its owner
	v["data"] = []any{base64.StdEncoding.EncodeToString(raw), "base64"}
	return v, nil
}

func (n *Node) tokenBalance(ctx context.Context, account string, at int) (any, error) {
	missing := &rpcError{Code: -32602, Message: "Invalid param: could not find account"}
	was, changed := n.ledger.since(account, at)
	if changed && was.token == "" {
		return nil, missing
	}
	var out struct{ Value object }
	if err := n.svm.call(ctx, &out, "getTokenAccountBalance", account, newest); err != nil {
		return nil, err
	}
	if out.Value == nil {
		return nil, missing
	}
	if changed {
		out.Value["amount"] = was.token
	}
	return n.context(at, out.Value), nil
}

// send takes a transaction as a node does: it is tried at once and waits for a block.
func (n *Node) send(ctx context.Context, q asked) (any, error) {
	n.active = time.Now()
	var text string
	if err := q.param(0, &text); err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, &rpcError{Code: -32602, Message: "invalid base64 encoding: " + err.Error()}
	}
	tx, err := sol.TransactionFromBytes(raw)
	if err != nil || len(tx.Signatures) == 0 {
		return nil, &rpcError{Code: -32602, Message: "failed to deserialize solana_transaction::versioned::VersionedTransaction"}
	}
	sig := tx.Signatures[0].String()
	if err := tx.VerifySignatures(); err != nil {
		return nil, &rpcError{Code: -32003, Message: "Transaction signature verification failure"}
	}
	if _, landed := n.ledger.at[sig]; landed && !q.options().SkipPreflight {
		return nil, failed("This transaction has already been processed", json.RawMessage(`"AlreadyProcessed"`))
	}
	if !q.options().SkipPreflight {
		if err := n.try(ctx, text); err != nil {
			return nil, err
		}
	}
	n.enqueue(waiting{sig, raw}, false)
	return sig, nil
}

// try is the preflight.
func (n *Node) try(ctx context.Context, text string) error {
	var out struct {
		Value struct {
			Err  json.RawMessage
			Logs []string
		}
	}
	err := n.svm.call(ctx, &out, "simulateTransaction", text, object{"encoding": "base64", "sigVerify": true, "commitment": "processed"})
	if err != nil {
		return err
	}
	if why := strings.TrimSpace(string(out.Value.Err)); why != "" && why != "null" {
		return failed(why, out.Value.Err)
	}
	return nil
}

// failed is a preflight's no.
func failed(why string, err json.RawMessage) *rpcError {
	data, _ := json.Marshal(object{"err": err, "logs": []string{}, "accounts": nil, "unitsConsumed": 0})
	return &rpcError{Code: -32002, Message: "Transaction simulation failed: " + why, Data: data}
}

// enqueue lets a transaction wait for the next block, once.
func (n *Node) enqueue(w waiting, first bool) {
	for _, x := range n.queue {
		if x.sig == w.sig {
			return
		}
	}
	if first {
		n.queue = append([]waiting{w}, n.queue...)
		return
	}
	n.queue = append(n.queue, w)
}
