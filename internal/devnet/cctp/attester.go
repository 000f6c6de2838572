package cctp

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// Where a message has what attesters fill in.
const (
	atNonce    = 12
	atFinality = 144
	headBytes  = 148
	finalized  = 2000
)

// Attester answers as Circle's attestation service: GET /v2/messages/{domain} with the
// hash of a transaction. It signs what stands deep enough in a chain.
type Attester struct {
	keys  []*ecdsa.PrivateKey // in the order of their addresses
	sides map[uint32]node
	from  common.Address
	depth uint64

	mu    sync.Mutex
	delay time.Duration
	down  bool
	bend  func(m *Answer)
	seen  map[common.Hash]time.Time
}

// Answer is one message as the service tells of it.
type Answer struct {
	Message     hexutil.Bytes `json:"message"`
	EventNonce  string        `json:"eventNonce"`
	Attestation string        `json:"attestation"`
	Version     int           `json:"cctpVersion"`
	Status      string        `json:"status"`
}

// NewAttester makes an attester of a bridge. Those of keys sign, each of them; depth is
// how many blocks a burn must have, its own among them.
func NewAttester(s Spec, keys []*ecdsa.PrivateKey, depth uint64) *Attester {
	a := &Attester{
		keys: slices.Clone(keys), sides: map[uint32]node{}, from: At(s.Key).Transmitter, depth: depth,
		seen: map[common.Hash]time.Time{},
	}
	slices.SortFunc(a.keys, func(x, y *ecdsa.PrivateKey) int {
		return crypto.PubkeyToAddress(x.PublicKey).Cmp(crypto.PubkeyToAddress(y.PublicKey))
	})
	for _, side := range s.Sides {
		a.sides[side.Domain] = node(side.RPC)
	}
	return a
}

// Stop lets it answer nothing but trouble, or work again.
func (a *Attester) Stop(down bool) { a.set(func() { a.down = down }) }

// Delay lets it sign only so long after it first saw a burn that is deep enough.
func (a *Attester) Delay(d time.Duration) { a.set(func() { a.delay = d }) }

// Bend lets somebody change what it says, after it signed; nil is nobody.
func (a *Attester) Bend(f func(m *Answer)) { a.set(func() { a.bend = f }) }

func (a *Attester) set(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// ServeHTTP implements http.Handler.
func (a *Attester) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/messages/{domain}", a.messages)
	mux.ServeHTTP(w, r)
}

func (a *Attester) messages(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	down, bend := a.down, a.bend
	a.mu.Unlock()
	if down {
		http.Error(w, `{"error":"down"}`, http.StatusServiceUnavailable)
		return
	}
	domain, err := strconv.ParseUint(r.PathValue("domain"), 10, 32)
	var tx common.Hash
	if err == nil {
		err = tx.UnmarshalText([]byte(r.URL.Query().Get("transactionHash")))
	}
	if err != nil {
		http.Error(w, `{"error":"bad request"}`, http.StatusBadRequest)
		return
	}
	all, err := a.answers(r.Context(), uint32(domain), tx)
	switch {
	case err != nil:
		http.Error(w, `{"error":"trouble"}`, http.StatusInternalServerError)
		return
	case len(all) == 0:
		http.Error(w, `{"error":"Message not found"}`, http.StatusNotFound)
		return
	}
	for i := range all {
		if bend != nil {
			bend(&all[i])
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"messages": all})
}

// answers reads what a transaction sent, and signs it if it stands deep enough.
func (a *Attester) answers(ctx context.Context, domain uint32, tx common.Hash) ([]Answer, error) {
	n, ok := a.sides[domain]
	if !ok {
		return nil, nil
	}
	r, err := n.receipt(ctx, tx)
	if err != nil || r == nil {
		return nil, err
	}
	head, err := n.number(ctx, "eth_blockNumber")
	if err != nil {
		return nil, err
	}
	ready := head+1 >= r.BlockNumber.Uint64()+a.depth && a.waited(r.BlockHash)
	var out []Answer
	for _, l := range r.Logs {
		m, ok := a.sent(l)
		if !ok {
			continue
		}
		if !ready {
			out = append(out, Answer{Message: hexutil.Bytes{}, Attestation: "PENDING", Version: 2, Status: "pending_confirmations"})
			continue
		}
		x, err := a.Sign(fill(m, nonceOf(domain, tx, l.Index)))
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// waited reports whether a block was seen as long ago as it must be.
func (a *Attester) waited(block common.Hash) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.seen[block]; !ok && a.delay > 0 {
		a.seen[block] = time.Now()
	}
	return a.delay == 0 || time.Since(a.seen[block]) >= a.delay
}

func (a *Attester) sent(l *types.Log) ([]byte, bool) {
	e := transmitter.abi.Events["MessageSent"]
	if l.Address != a.from || len(l.Topics) != 1 || l.Topics[0] != e.ID {
		return nil, false
	}
	v, err := e.Inputs.Unpack(l.Data)
	if err != nil || len(v[0].([]byte)) < headBytes {
		return nil, false
	}
	return v[0].([]byte), true
}

// nonceOf is the same whenever it is asked for, and of one log only.
func nonceOf(domain uint32, tx common.Hash, index uint) common.Hash {
	place := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, domain), uint64(index))
	return crypto.Keccak256Hash(place, tx[:])
}

// fill writes what attesters add to a message that is final, for no fee.
func fill(m []byte, nonce common.Hash) []byte {
	m = bytes.Clone(m)
	copy(m[atNonce:], nonce[:])
	binary.BigEndian.PutUint32(m[atFinality:], finalized)
	return m
}

// Sign signs a message with every key.
func (a *Attester) Sign(m []byte) (Answer, error) {
	sigs, err := Signatures(m, a.keys...)
	if err != nil {
		return Answer{}, err
	}
	return Answer{
		Message: m, EventNonce: hexutil.Encode(m[atNonce : atNonce+32]), Attestation: hexutil.Encode(sigs), Version: 2, Status: "complete",
	}, nil
}

// Signatures signs a message with keys, in their order.
func Signatures(m []byte, keys ...*ecdsa.PrivateKey) ([]byte, error) {
	var out []byte
	for _, k := range keys {
		sig, err := crypto.Sign(crypto.Keccak256(m), k)
		if err != nil {
			return nil, fmt.Errorf("sign a message: %w", err)
		}
		sig[64] += 27
		out = append(out, sig...)
	}
	return out, nil
}

// Keys are attesters' keys that everybody knows, for chains where nothing is of worth.
func Keys(n int) []*ecdsa.PrivateKey {
	out := make([]*ecdsa.PrivateKey, n)
	for i := range out {
		k, err := crypto.ToECDSA(crypto.Keccak256([]byte("an attester of local chains"), []byte{byte(i)}))
		if err != nil {
			panic(err) // a hash that is no key would be a wonder
		}
		out[i] = k
	}
	return out
}
