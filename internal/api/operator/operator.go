package operator

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"ferry/internal/fault"
	"ferry/internal/office"
)

// prefix is where all routes are.
const prefix = "/admin/v1"

// Config is what the door is built from.
type Config struct {
	Office *office.Office
	// Operators are who may come in; without any nobody may.
	Operators []Operator
	// Events are what streams are made of; nil where no service runs.
	Events *Events
	Log    *slog.Logger
}

// Door is the operators' API.
type Door struct {
	office    *office.Office
	operators []Operator
	events    *Events
	streams   atomic.Int64 // how many are open
	log       *slog.Logger
	mux       *http.ServeMux
}

// New builds the door.
func New(cfg Config) (*Door, error) {
	if cfg.Office == nil || cfg.Log == nil {
		return nil, errors.New("operator: an office and a log are needed")
	}
	d := &Door{office: cfg.Office, operators: slices.Clone(cfg.Operators), events: cfg.Events, log: cfg.Log, mux: http.NewServeMux()}
	for i, o := range d.operators {
		if o.Name == "" || o.Digest == (Digest{}) {
			return nil, fmt.Errorf("operator: operator %d has no name or no token", i+1)
		}
		if slices.ContainsFunc(d.operators[:i], func(p Operator) bool { return p.Name == o.Name || p.Digest == o.Digest }) {
			return nil, fmt.Errorf("operator: operator %s stands there twice, or has another's token", o.Name)
		}
	}
	for path, methods := range routes {
		d.mux.Handle(prefix+path, endpoint{door: d, methods: methods})
	}
	d.mux.Handle("/", endpoint{door: d})
	return d, nil
}

// ServeHTTP lets in who shows a token, and nobody else.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := known(d.operators, r.Header.Values("Authorization"))
	if !ok {
		id := open(w)
		d.log.WarnContext(r.Context(), "an operator's token was refused", "request", id, "from", r.RemoteAddr)
		w.Header().Set("WWW-Authenticate", `Bearer realm="ferry operators"`)
		d.fail(w, r, id, errToken)
		return
	}
	d.serve(w, r, name)
}

var errToken = fault.New(fault.Unauthenticated, "operator_token_invalid",
	"No operator has this token; send Authorization: Bearer with a token whose digest stands under [[operators]] in the configuration.")

// serve answers somebody who was let in.
func (d *Door) serve(w http.ResponseWriter, r *http.Request, name string) {
	d.mux.ServeHTTP(w, r.WithContext(withName(r.Context(), name)))
}

// open begins every answer.
func open(w http.ResponseWriter) (requestID string) {
	requestID = office.NewID("req_")
	h := w.Header()
	h.Set("X-Request-ID", requestID)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	return requestID
}

// endpoint is one path with what can be done there.
type endpoint struct {
	door    *Door
	methods map[string]action
}

func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := open(w)
	act, ok := e.methods[r.Method]
	switch {
	case len(e.methods) == 0:
		e.door.fail(w, r, id, fault.New(fault.NotFound, "route_not_found", "There is nothing at this path; look up the path."))
		return
	case !ok:
		allowed := make([]string, 0, len(e.methods))
		for m := range e.methods {
			allowed = append(allowed, m)
		}
		slices.Sort(allowed)
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		e.door.fail(w, r, id, refuse(http.StatusMethodNotAllowed, "method_not_allowed", "This path takes %s.", strings.Join(allowed, " and ")))
		return
	}
	body, err := act.do(&call{Request: r, w: w, door: e.door, office: e.door.office, by: nameOf(r.Context())})
	if tell, goesOn := body.(streaming); goesOn {
		tell(w, r)
		return
	}
	if err == nil {
		err = write(w, act.status, "application/json", body)
	}
	if err != nil {
		e.door.fail(w, r, id, err)
	}
}

// fail answers with what went wrong; what is no fault is logged and not shown.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, id string, err error) {
	if errors.Is(err, errGone) {
		d.log.WarnContext(r.Context(), "an operator did not wait for the answer", "request", id, "error", err)
		return
	}
	f := fault.Of(err)
	status := statuses[f.Kind]
	var with *refused
	if errors.As(err, &with) {
		status = with.status
	}
	if status >= http.StatusInternalServerError {
		d.log.ErrorContext(r.Context(), "an operator's request failed", "request", id, "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if err := write(w, status, "application/problem+json", problemOf(status, f, id)); err != nil {
		d.log.WarnContext(r.Context(), "an operator did not wait for the answer", "request", id, "error", err)
	}
}
