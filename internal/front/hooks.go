package front

import (
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/feed"
	"ferry/internal/hooks"
	"ferry/internal/hooks/post"
	"ferry/internal/office"
	"ferry/internal/secret"
)

// wording tells webhooks what the socket tells.
type wording struct {
	atlas  *desk.Atlas
	showOf func(chain.Family, chain.Address) string
}

// Name implements hooks.Wording.
func (wording) Name(e *feed.Entry) string { return wire.EventName(e.Event, e.From, e.State) }

// Names implements hooks.Wording.
func (wording) Names() []string { return wire.EventNames() }

// Event implements hooks.Wording.
func (w wording) Event(e *feed.Entry) (id string, body []byte, err error) {
	event := wire.IntegratorEventOf(e, wire.AttributedOf(*e.Now, w.atlas, w.showOf))
	body, err = wire.Bytes(event)
	return event.EventID, body, err
}

// Test implements hooks.Wording.
func (wording) Test(id hooks.ID, now time.Time) (event string, body []byte, err error) {
	t := wire.TestEventOf(id, now)
	body, err = wire.Bytes(t)
	return t.EventID, body, err
}

// webhooks are those of integrators, with what posts them.
func (f *Front) webhooks(known *chains) (err error) {
	f.poster = post.New(post.Config{Loopback: f.cfg.Webhooks.Loopback, Agent: "ferry/" + f.cfg.Version})
	f.hooks, err = hooks.New(f.cfg.Webhooks, secret.New(derive(f.cfg.Secret.Reveal(), "webhooks")), hooks.Ports{
		Store: f.db, Log: f.db, Wording: wording{known.atlas, known.showOf}, Poster: f.poster, Now: f.clock.Now, NewID: office.NewID,
		Trouble: func(err error) {
			f.cfg.Log.Warn("webhooks could not all be sent, will be tried again", "error", err)
		},
	})
	return err
}
