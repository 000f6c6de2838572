package signer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"ferry/internal/chain"
)

// Keys is what a server serves: a Signer.
type Keys interface {
	Sign(ctx context.Context, p chain.Paper) ([]byte, error)
	Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error)
}

// Server answers one machine's own callers over a unix socket: those of the same user,
// and the machine's administrator. It is woken by whoever connects.
type Server struct {
	keys  Keys
	nets  map[chain.ID]Net
	log   *slog.Logger
	allow func(uid uint32) bool
}

// NewServer makes a server of the keys on some chains.
func NewServer(k Keys, nets map[chain.ID]Net, log *slog.Logger) *Server {
	own := uint32(os.Getuid()) //nolint:gosec // never negative where there are sockets
	return &Server{keys: k, nets: nets, log: log, allow: func(uid uint32) bool { return uid == own || uid == 0 }}
}

// Listen opens the socket. One that a dead process left behind is removed; one that
// somebody answers at is not.
func Listen(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("signer: %w", err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("signer: %s is there and is no socket; remove it or write another path", path)
	default:
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			return nil, errors.Join(fmt.Errorf("signer: another signer answers at %s", path), c.Close())
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("signer: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	// Between the two calls somebody else could connect; who it is, is asked anyway.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("signer: %w", err), l.Close())
	}
	return l, nil
}

// peerKey is where a connection's caller is kept in its context.
type peerKey struct{}

// Run serves until the context ends, and then lets requests under way end.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+signPath, s.sign)
	mux.HandleFunc("POST "+addressPath, s.address)
	mux.HandleFunc("GET "+healthPath, s.health)
	srv := &http.Server{
		Handler: s.checked(mux), ReadTimeout: maxWait, ReadHeaderTimeout: maxWait, WriteTimeout: maxWait, MaxHeaderBytes: 8 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			uid, err := peer(c)
			if err == nil && !s.allow(uid) {
				err = fmt.Errorf("user %d may not ask", uid)
			}
			return context.WithValue(ctx, peerKey{}, err)
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("signer: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWait)
	defer cancel()
	err := srv.Shutdown(stop)
	<-ended
	if err != nil {
		return fmt.Errorf("signer: %w", err)
	}
	return nil
}

// checked lets only those ask who may.
func (s *Server) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err, _ := r.Context().Value(peerKey{}).(error); err != nil {
			s.log.Warn("a stranger asked the signer", "why", err.Error())
			s.answer(w, http.StatusUnauthorized, answerWord{Text: "you may not ask"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		next.ServeHTTP(w, r)
	})
}

func (s *Server) sign(w http.ResponseWriter, r *http.Request) {
	var word paperWord
	if !s.read(w, r, &word) {
		return
	}
	raw, err := s.keys.Sign(r.Context(), word.paper())
	if err != nil {
		s.fail(w, word.For, err)
		return
	}
	s.log.Info("signed", "chain", word.Chain, "transfer", word.For, "cancel", word.Cancel)
	s.answer(w, http.StatusOK, answerWord{Raw: raw})
}

func (s *Server) address(w http.ResponseWriter, r *http.Request) {
	var word addressWord
	if !s.read(w, r, &word) {
		return
	}
	a, err := s.keys.Address(r.Context(), chain.ID(word.Chain), word.Key.key())
	if err != nil {
		s.fail(w, "", err)
		return
	}
	s.answer(w, http.StatusOK, answerWord{Family: string(a.Family()), Address: a.Text()})
}

// health says which hot accounts it signs for and what it lets be called, so that a
// caller with another wallet or another configuration in mind finds out before money moves.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	hot := map[string]string{}
	for id := range s.nets {
		a, err := s.keys.Address(r.Context(), id, chain.Key{Account: Hot})
		if err != nil {
			s.fail(w, "", err)
			return
		}
		hot[string(id)] = a.Text()
	}
	a := answerWord{Hot: hot}
	if k, ok := s.keys.(interface{ Lists() string }); ok {
		a.Lists = k.Lists()
	}
	s.answer(w, http.StatusOK, a)
}

func (s *Server) read(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is something behind it")
		}
	}
	if err != nil {
		s.answer(w, http.StatusBadRequest, answerWord{Text: "the question cannot be read"})
		return false
	}
	return true
}

// fail answers an error: a refusal as one, everything else as something that is not known.
func (s *Server) fail(w http.ResponseWriter, transfer string, err error) {
	var no *Refusal
	switch {
	case errors.As(err, &no):
		s.log.Warn("refused to sign", "transfer", transfer, "reason", string(no.Reason), "why", no.Text)
		s.answer(w, http.StatusForbidden, answerWord{Refused: no.Reason, Text: no.Text})
	case errors.Is(err, ErrUnknownKey):
		s.answer(w, http.StatusNotFound, answerWord{Unknown: true, Text: err.Error()})
	default:
		s.log.Error("could not sign", "transfer", transfer, "why", err.Error())
		s.answer(w, http.StatusInternalServerError, answerWord{Text: err.Error()})
	}
}

func (s *Server) answer(w http.ResponseWriter, code int, a answerWord) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(a); err != nil {
		s.log.Debug("the caller went away", "why", err.Error())
	}
}
