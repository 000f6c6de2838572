package bitcoin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

type ask struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

type said struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
	Error   *fail           `json:"error,omitempty"`
}

// method answers one question.
type method func(n *Node, p params) (any, error)

// writes are the methods that change something.
var writes = map[string]bool{"sendrawtransaction": true, "generatetoaddress": true}

var methods map[string]method

func init() {
	methods = map[string]method{
		"getblockchaininfo": getBlockchainInfo, "getnetworkinfo": getNetworkInfo, "getindexinfo": getIndexInfo,
		"getblockcount": getBlockCount, "getbestblockhash": getBestBlockHash, "getblockhash": getBlockHash,
		"getblockheader": getBlockHeader, "getblock": getBlock, "getrawtransaction": getRawTransaction,
		"getrawmempool": getRawMempool, "getmempoolentry": getMempoolEntry, "getmempoolinfo": getMempoolInfo,
		"gettxout": getTxOut, "gettxspendingprevout": getTxSpendingPrevOut, "scantxoutset": scanTxOutSet,
		"sendrawtransaction": sendRawTransaction, "testmempoolaccept": testMempoolAccept,
		"estimatesmartfee": estimateSmartFee, "generatetoaddress": generateToAddress,
	}
}

func (n *Node) serve(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var all []ask
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		if json.Unmarshal(text, &all) != nil {
			http.Error(w, "Parse error", http.StatusBadRequest)
			return
		}
		out := make([]said, len(all))
		for i, a := range all {
			out[i] = n.answer(a)
		}
		_ = json.NewEncoder(w).Encode(out) // whoever went away is not told
		return
	}
	var a ask
	if json.Unmarshal(text, &a) != nil {
		http.Error(w, "Parse error", http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(n.answer(a))
}

func (n *Node) answer(a ask) said {
	s := said{Version: "2.0", ID: a.ID}
	m, ok := methods[a.Method]
	if !ok {
		s.Error = failf(codeNoMethod, "Method not found")
		return s
	}
	if writes[a.Method] {
		n.mu.Lock()
		defer n.mu.Unlock()
	} else {
		n.mu.RLock()
		defer n.mu.RUnlock()
	}
	v, err := m(n, a.Params)
	if err != nil {
		if !errors.As(err, &s.Error) {
			s.Error = failf(codeMisc, "%v", err)
		}
		return s
	}
	s.Result = v
	return s
}

// params are what a method is given, by their place.
type params []json.RawMessage

func (p params) read(i int, into any) error {
	if i >= len(p) || bytes.Equal(p[i], []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(p[i], into); err != nil {
		return failf(codeType, "JSON value of parameter %d is not of expected type", i+1)
	}
	return nil
}

func (p params) text(i int) (string, error) {
	var s string
	return s, p.read(i, &s)
}

func (p params) hash(i int) (chainhash.Hash, error) {
	s, err := p.text(i)
	if err != nil {
		return chainhash.Hash{}, err
	}
	if len(s) != 64 {
		return chainhash.Hash{}, failf(codeParameter, "parameter %d must be of length 64 (not %d, for '%.80s')", i+1, len(s), s)
	}
	h, err := chainhash.NewHashFromStr(s)
	if err != nil {
		return chainhash.Hash{}, failf(codeParameter, "parameter %d must be hexadecimal string", i+1)
	}
	return *h, nil
}

func (p params) flag(i int, otherwise bool) (bool, error) {
	v := otherwise
	err := p.read(i, &v)
	return v, err
}

// level is a verbosity, which may also be said as yes or no.
func (p params) level(i, otherwise int) (int, error) {
	v := otherwise
	if i < len(p) {
		var yes bool
		if json.Unmarshal(p[i], &yes) == nil && !bytes.Equal(p[i], []byte("null")) {
			if yes {
				return 1, nil
			}
			return 0, nil
		}
	}
	err := p.read(i, &v)
	return v, err
}

// parseTx reads a transaction, and nothing but one.
func parseTx(text string) (*btcutil.Tx, *fail) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, failf(codeDecode, "TX decode failed. Make sure the tx has at least one input.")
	}
	r := bytes.NewReader(raw)
	tx := wire.NewMsgTx(2)
	if err := tx.Deserialize(r); err != nil || r.Len() != 0 || len(tx.TxIn) == 0 {
		return nil, failf(codeDecode, "TX decode failed. Make sure the tx has at least one input.")
	}
	return btcutil.NewTx(tx), nil
}

// btc is an amount as Core writes it: bitcoins with eight decimals.
func btc(sat int64) json.Number {
	sign := ""
	if sat < 0 {
		sign, sat = "-", -sat
	}
	return json.Number(fmt.Sprintf("%s%d.%08d", sign, sat/1e8, sat%1e8))
}
