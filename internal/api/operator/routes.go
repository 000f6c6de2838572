package operator

import (
	"context"
	"errors"
	"net/http"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// usualPage is how long a list is where nobody says.
const usualPage = 100

type nameKey struct{}

func withName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

func nameOf(ctx context.Context) string {
	name, _ := ctx.Value(nameKey{}).(string)
	return name
}

// call is one request of somebody who was let in.
type call struct {
	*http.Request
	w      http.ResponseWriter
	door   *Door
	office *office.Office
	by     string
}

func (c *call) id() integrator.ID { return integrator.ID(c.PathValue("id")) }

// bare refuses parameters, and fields of a body, where there are none.
func (c *call) bare() error {
	if c.ContentLength != 0 {
		return c.read(&struct{}{})
	}
	_, err := query(c.Request)
	return err
}

// read takes the body in, and refuses parameters.
func (c *call) read(into any) error {
	if _, err := query(c.Request); err != nil {
		return err
	}
	return read(c.w, c.Request, into)
}

// action is what one method of a path does.
type action struct {
	status int
	do     func(*call) (any, error)
}

func answers(do func(*call) (any, error)) action { return action{http.StatusOK, do} }
func creates(do func(*call) (any, error)) action { return action{http.StatusCreated, do} }

// routes are everything there is. A key has no way to be changed but to be revoked.
var routes = map[string]map[string]action{
	"/integrators":               {http.MethodGet: answers(listIntegrators), http.MethodPost: creates(createIntegrator)},
	"/integrators/{id}":          {http.MethodGet: answers(showIntegrator), http.MethodPatch: answers(changeIntegrator)},
	"/integrators/{id}/keys":     {http.MethodGet: answers(listKeys), http.MethodPost: creates(issueKey)},
	"/keys/{id}/revoke":          {http.MethodPost: answers(revokeKey)},
	"/audit":                     {http.MethodGet: answers(listEntries)},
	"/audit/verify":              {http.MethodGet: answers(verifyAudit)},
	"/events":                    {http.MethodGet: answers(followEvents)},
	"/halts":                     {http.MethodGet: answers(listHalts)},
	"/halts/{id}/resume":         {http.MethodPost: answers(resumeChain)},
	"/queue":                     {http.MethodGet: answers(listQuestions)},
	"/sweep":                     {http.MethodGet: answers(listUnswept), http.MethodPost: answers(sweep)},
	"/prices":                    {http.MethodGet: answers(listPrices)},
	"/prices/{id}/confirm":       {http.MethodPost: answers(confirmPrice)},
	"/integrators/{id}/webhooks": {http.MethodGet: answers(listWebhooks)},
}

func listIntegrators(c *call) (any, error) {
	values, err := query(c.Request, "cursor", "limit")
	if err != nil {
		return nil, err
	}
	n, err := number(values, "limit", usualPage)
	if err != nil {
		return nil, err
	}
	found, err := c.office.List(c.Context(), integrator.ID(values.Get("cursor")), int(min(n, office.MaxPage+1)))
	if err != nil {
		return nil, err
	}
	page := Integrators{Integrators: each(found, integratorView)}
	if len(found) > 0 && int64(len(found)) == n {
		last := string(found[len(found)-1].ID)
		page.NextCursor = &last
	}
	return page, nil
}

func createIntegrator(c *call) (any, error) {
	var body newIntegrator
	if err := c.read(&body); err != nil {
		return nil, err
	}
	return viewed(c.office.Create(c.Context(), body.Name, c.by))
}

func showIntegrator(c *call) (any, error) {
	if err := c.bare(); err != nil {
		return nil, err
	}
	return viewed(c.office.Show(c.Context(), c.id()))
}

func changeIntegrator(c *call) (any, error) {
	var body Patch
	if err := c.read(&body); err != nil {
		return nil, err
	}
	p, err := body.patch()
	if err != nil {
		return nil, err
	}
	return viewed(c.office.Change(c.Context(), c.id(), p, c.by))
}

func viewed(i integrator.Integrator, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return integratorView(i), nil
}

func listKeys(c *call) (any, error) {
	if err := c.bare(); err != nil {
		return nil, err
	}
	keys, err := c.office.Keys(c.Context(), c.id())
	return Keys{Keys: each(keys, keyView)}, err
}

func listWebhooks(c *call) (any, error) {
	if err := c.bare(); err != nil {
		return nil, err
	}
	found, err := c.office.Webhooks(c.Context(), c.id())
	return Webhooks{Webhooks: each(found, webhookView)}, err
}

func issueKey(c *call) (any, error) {
	var body newKey
	if err := c.read(&body); err != nil {
		return nil, err
	}
	k, text, err := c.office.IssueKey(c.Context(), c.id(), office.NewKey{Kind: integrator.Kind(body.Kind), Label: body.Label, Requests: body.Requests}, c.by)
	return Issued{Key: keyView(k), Secret: Shown{text}}, err
}

func revokeKey(c *call) (any, error) {
	if err := c.bare(); err != nil {
		return nil, err
	}
	k, err := c.office.RevokeKey(c.Context(), integrator.KeyID(c.id()), c.by)
	return keyView(k), err
}

func listEntries(c *call) (any, error) {
	values, err := query(c.Request, "after", "limit")
	if err != nil {
		return nil, err
	}
	after, err := number(values, "after", 0)
	if err != nil {
		return nil, err
	}
	n, err := number(values, "limit", usualPage)
	if err != nil {
		return nil, err
	}
	found, err := c.office.Audit(c.Context(), after, int(min(n, office.MaxPage+1)))
	return Entries{Entries: each(found, entryView)}, err
}

func verifyAudit(c *call) (any, error) {
	if err := c.bare(); err != nil {
		return nil, err
	}
	v, err := c.office.VerifyAudit(c.Context())
	switch {
	case errors.Is(err, office.ErrBroken):
		return Verdict{Entries: v.Entries, Head: v.Head.String(), Why: err.Error()}, nil
	case err != nil:
		return nil, err
	}
	return Verdict{Sound: true, Entries: v.Entries, Head: v.Head.String()}, nil
}

func haltView(h office.Halt) Halt {
	return Halt{Chain: string(h.Chain), Since: stamp(h.At), Why: h.Why}
}

func listHalts(c *call) (any, error) {
	if err := c.bare(); err != nil {
		return nil, err
	}
	halts, err := c.office.Halts(c.Context())
	return Halts{Halts: each(halts, haltView)}, err
}

func resumeChain(c *call) (any, error) {
	if err := c.bare(); err != nil {
		return nil, err
	}
	if err := c.office.ResumeChain(c.Context(), chain.ID(c.id()), c.by); err != nil {
		return nil, err
	}
	halts, err := c.office.Halts(c.Context())
	return Halts{Halts: each(halts, haltView)}, err
}

func questionView(q office.Question) Question {
	return Question{ID: q.ID, Order: string(q.Order), Why: string(q.Why), At: stamp(q.At)}
}

func listQuestions(c *call) (any, error) {
	values, err := query(c.Request, "limit")
	if err != nil {
		return nil, err
	}
	n, err := number(values, "limit", usualPage)
	if err != nil {
		return nil, err
	}
	found, err := c.office.Queue(c.Context(), int(min(n, office.MaxPage+1)))
	return Questions{Questions: each(found, questionView)}, err
}
