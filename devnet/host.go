package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
)

// node is one running chain.
type node interface {
	// RPC is where the chain's own JSON-RPC answers.
	RPC() string
	// Do moves a lever of the chain: mine, reorg, fund, …
	Do(ctx context.Context, op string, in json.RawMessage) (any, error)
	Close() error
}

// others finds a chain that runs by its name; nil where there is none.
type others func(name string) node

// opener starts a chain. With an empty folder it lives in memory.
type opener func(ctx context.Context, dir string, spec json.RawMessage, others others) (node, error)

// kinds are the chains that can be run.
var kinds = map[string]opener{}

// host keeps the chains that run.
type host struct {
	data string

	mu    sync.Mutex
	nodes map[string]node
}

func newHost(data string) *host { return &host{data: data, nodes: map[string]node{}} }

func (h *host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.nodes {
		_ = n.Close()
	}
}

// handler is the control door.
func (h *host) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /chains/{name}", h.open)
	mux.HandleFunc("DELETE /chains/{name}", h.shut)
	mux.HandleFunc("POST /chains/{name}/{op}", h.do)
	return mux
}

// opening is what is asked to open a chain.
type opening struct {
	Kind    string          `json:"kind"`
	Durable bool            `json:"durable"` // it is kept in the folder and survives a restart
	Spec    json.RawMessage `json:"spec"`
}

func (h *host) open(w http.ResponseWriter, r *http.Request) {
	var o opening
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		refuse(w, err)
		return
	}
	start, ok := kinds[o.Kind]
	name := r.PathValue("name")
	if !ok {
		refuse(w, fmt.Errorf("no chain of kind %q is known", o.Kind))
		return
	}
	dir := ""
	if o.Durable {
		if h.data == "" {
			refuse(w, errors.New("a chain that is kept needs a folder; start with -data"))
			return
		}
		dir = filepath.Join(h.data, name)
	}
	h.mu.Lock()
	n, there := h.nodes[name]
	h.mu.Unlock()
	if there { // whoever asks died and came back, and finds its chain as it was
		answer(w, map[string]string{"rpc": n.RPC()})
		return
	}
	var err error
	n, err = start(context.WithoutCancel(r.Context()), dir, o.Spec, h.find)
	if err != nil {
		refuse(w, fmt.Errorf("start %s: %w", o.Kind, err))
		return
	}
	h.mu.Lock()
	h.nodes[name] = n
	h.mu.Unlock()
	answer(w, map[string]string{"rpc": n.RPC()})
}

func (h *host) find(name string) node {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.nodes[name]
}

func (h *host) shut(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	n, ok := h.nodes[r.PathValue("name")]
	delete(h.nodes, r.PathValue("name"))
	h.mu.Unlock()
	if ok {
		if err := n.Close(); err != nil {
			refuse(w, err)
			return
		}
	}
	answer(w, map[string]bool{"closed": ok})
}

func (h *host) do(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	n, ok := h.nodes[r.PathValue("name")]
	h.mu.Unlock()
	if !ok {
		refuse(w, fmt.Errorf("no chain %q runs", r.PathValue("name")))
		return
	}
	in, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		refuse(w, err)
		return
	}
	out, err := n.Do(r.Context(), r.PathValue("op"), in)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, out)
}

func refuse(w http.ResponseWriter, err error) { http.Error(w, err.Error(), http.StatusBadRequest) }

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a caller who went away is not told
}
