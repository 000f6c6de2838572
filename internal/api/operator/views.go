package operator

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/secret"
)

// Integrator is an integrator as operators see it.
type Integrator struct {
	ID                     string             `json:"integratorId"`
	Name                   string             `json:"name"`
	Status                 string             `json:"status"`
	Version                int64              `json:"version"`
	CreatedAt              string             `json:"createdAt"`
	UpdatedAt              string             `json:"updatedAt"`
	Limits                 Limits             `json:"limits"`
	OpenOrderWindowMinutes int64              `json:"openOrderWindowMinutes"`
	Attribution            Attribution        `json:"attribution"`
	Points                 bool               `json:"points"`
	Forwarding             Forwarding         `json:"clientIpForwarding"`
	DefaultFeePercent      jsontext.Value     `json:"defaultFeePercent"`
	PayoutAddresses        map[string]*string `json:"payoutAddresses"`
}

// Limits are those of a company.
type Limits struct {
	Requests   int64 `json:"requestLimitPerMin"`
	Quotes     int64 `json:"quoteLimitPerMin"`
	Creates    int64 `json:"createLimitPerMin"`
	OpenOrders int64 `json:"maxOpenOrders"`
}

// Attribution is over how many days attribution is reported.
type Attribution struct {
	Days int `json:"windowDays"`
}

// Forwarding is who may forward end users' addresses.
type Forwarding struct {
	Enabled bool         `json:"enabled"`
	Egress  []string     `json:"egress"`
	Limits  ClientLimits `json:"limits"`
}

// ClientLimits are those of one end user.
type ClientLimits struct {
	Requests   int64 `json:"requestLimitPerMin"`
	Creates    int64 `json:"createLimitPerMin"`
	OpenOrders int64 `json:"maxOpenOrders"`
}

// stamp writes a time as every answer has it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := stamp(t)
	return &text
}

func integratorView(i integrator.Integrator) Integrator {
	l, c := i.Limits, i.Forwarding.Limits
	v := Integrator{
		ID: string(i.ID), Name: i.Name, Status: string(i.Status), Version: i.Version, CreatedAt: stamp(i.CreatedAt), UpdatedAt: stamp(i.UpdatedAt),
		Limits:                 Limits{Requests: l.Requests, Quotes: l.Quotes, Creates: l.Creates, OpenOrders: l.OpenOrders},
		OpenOrderWindowMinutes: int64(i.Window / time.Minute), Attribution: Attribution{Days: i.AttributionDays}, Points: !i.NoPoints,
		Forwarding: Forwarding{
			Enabled: i.Forwarding.Enabled, Egress: []string{}, Limits: ClientLimits{Requests: c.Requests, Creates: c.Creates, OpenOrders: c.OpenOrders},
		},
		DefaultFeePercent: jsontext.Value(i.Fees.Default.String()),
		PayoutAddresses:   map[string]*string{},
	}
	for _, p := range i.Forwarding.Egress {
		v.Forwarding.Egress = append(v.Forwarding.Egress, p.String())
	}
	for _, f := range []chain.Family{chain.EVM, chain.Solana, chain.Bitcoin} {
		v.PayoutAddresses[string(f)] = nil
		if to, ok := i.Fees.PayTo[f]; ok {
			text := to.Text()
			v.PayoutAddresses[string(f)] = &text
		}
	}
	return v
}

// Key is a key as operators see it: never the key itself.
type Key struct {
	ID         string  `json:"keyId"`
	Integrator string  `json:"integratorId"`
	Kind       string  `json:"kind"`
	Label      string  `json:"label"`
	Hint       string  `json:"hint"`
	Status     string  `json:"status"`
	Requests   int64   `json:"keyRequestLimitPerMin"`
	CreatedAt  string  `json:"createdAt"`
	LastUsedAt *string `json:"lastUsedAt"`
	RevokedAt  *string `json:"revokedAt"`
}

func keyView(k integrator.Key) Key {
	v := Key{
		ID: string(k.ID), Integrator: string(k.Integrator), Kind: string(k.Kind), Label: k.Label, Hint: k.Hint, Status: "active", Requests: k.Requests,
		CreatedAt: stamp(k.CreatedAt), LastUsedAt: stampOrNull(k.LastUsedAt), RevokedAt: stampOrNull(k.RevokedAt),
	}
	if k.Revoked() {
		v.Status = "revoked"
	}
	return v
}

// Shown is a secret on its way to the one who asked for it. Everywhere but in the
// body of that answer it is hidden like any other.
type Shown struct{ secret.Text }

// MarshalJSONTo writes the secret itself.
func (s Shown) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.String(s.Reveal()))
}

// UnmarshalJSONFrom takes the secret in.
func (s *Shown) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err == nil {
		s.Text = secret.New(tok.String())
	}
	return err
}

// Issued is a new key with the key itself.
type Issued struct {
	Key    Key   `json:"key"`
	Secret Shown `json:"secret"`
}

// Entry is one row of the operators' log.
type Entry struct {
	Seq    int64          `json:"seq"`
	At     string         `json:"at"`
	By     string         `json:"by"`
	Action string         `json:"action"`
	Target string         `json:"target"`
	Before jsontext.Value `json:"before"`
	After  jsontext.Value `json:"after"`
	Prev   string         `json:"prev"`
	Sum    string         `json:"sum"`
}

func entryView(e office.Entry) Entry {
	object := func(text string) jsontext.Value { // what is no JSON was not written by us; it is shown all the same
		if v := jsontext.Value(text); v.IsValid() {
			return v
		}
		quoted, _ := jsontext.AppendQuote(nil, text)
		return quoted
	}
	return Entry{
		Seq: e.Seq, At: e.At.UTC().Format("2006-01-02T15:04:05.000000Z"), By: e.By, Action: e.Action, Target: e.Target,
		Before: object(e.Before), After: object(e.After), Prev: e.Prev.String(), Sum: e.Sum.String(),
	}
}

// Verdict is what became of going through the operators' log.
type Verdict struct {
	Sound   bool   `json:"sound"`
	Entries int64  `json:"entries"`
	Head    string `json:"head"`
	Why     string `json:"why,omitzero"`
}

// Halt is a chain that is stopped.
type Halt struct {
	Chain string `json:"chain"`
	Since string `json:"since"`
	Why   string `json:"why"`
}

// Question is an order that waits for an operator.
type Question struct {
	ID    string `json:"questionId"`
	Order string `json:"orderId"`
	Why   string `json:"why"`
	At    string `json:"at"`
}

// The lists, each in an object of its own.
type (
	Integrators struct {
		Integrators []Integrator `json:"integrators"`
		NextCursor  *string      `json:"nextCursor"`
	}
	Keys struct {
		Keys []Key `json:"keys"`
	}
	Entries struct {
		Entries []Entry `json:"entries"`
	}
	Halts struct {
		Halts []Halt `json:"halts"`
	}
	Questions struct {
		Questions []Question `json:"questions"`
	}
)

// each shows every item of a list, which is never null.
func each[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}
