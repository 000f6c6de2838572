package office

import (
	"context"
	"crypto/rand"
	"errors"

	"ferry/internal/integrator"
	"ferry/internal/secret"
)

// NewKey is what a key is to be. Its kind is for ever: a public key does not become
// a server key, another is issued.
type NewKey struct {
	Kind     integrator.Kind
	Label    string
	Requests *int64 // per minute; nil is the default
}

// IssueKey makes a key of an integrator. The secret is the key itself, which is
// shown now or never: only its digest is kept.
func (o *Office) IssueKey(ctx context.Context, id integrator.ID, n NewKey, by string) (integrator.Key, secret.Text, error) {
	k := integrator.Key{
		ID: integrator.KeyID(NewID("key_")), Integrator: id, Kind: n.Kind, Label: n.Label,
		Requests: integrator.DefaultKeyRequests, CreatedAt: o.clock(),
	}
	set(&k.Requests, n.Requests)
	fail := func(err error) (integrator.Key, secret.Text, error) {
		if errors.Is(err, ErrNotFound) {
			err = noIntegrator(id).Because(err)
		}
		return integrator.Key{}, secret.Text{}, refusal(err)
	}
	if err := k.Check(); err != nil {
		return fail(err)
	}
	text, err := integrator.Mint(k.Kind, rand.Reader)
	if err != nil {
		return fail(err)
	}
	k.Digest, k.Hint = integrator.DigestOf(text.Reveal()), integrator.HintOf(text.Reveal())
	e, err := o.entry(by, IssuedKey, string(k.ID), nil, keyFields(k))
	if err != nil {
		return fail(err)
	}
	if err := o.store.IssueKey(ctx, k, e); err != nil {
		return fail(err)
	}
	return k, text, nil
}

// RevokeKey makes a key open nothing, for good. Revoking it again is no error and
// changes nothing.
func (o *Office) RevokeKey(ctx context.Context, id integrator.KeyID, by string) (integrator.Key, error) {
	k, err := o.key(ctx, id)
	if err != nil || k.Revoked() {
		return k, err
	}
	e, err := o.entry(by, RevokedKey, string(id), map[string]string{"status": "active"}, map[string]string{"status": "revoked"})
	if err != nil {
		return integrator.Key{}, err
	}
	if _, err := o.store.RevokeKey(ctx, id, e.At, e); err != nil {
		return integrator.Key{}, refusal(err)
	}
	return o.key(ctx, id) // as whoever was first has left it
}

func (o *Office) key(ctx context.Context, id integrator.KeyID) (integrator.Key, error) {
	k, err := o.store.Key(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return integrator.Key{}, noKey(id).Because(err)
	}
	return k, refusal(err)
}

// Keys are those of an integrator, oldest first, with those that were revoked.
func (o *Office) Keys(ctx context.Context, id integrator.ID) ([]integrator.Key, error) {
	if _, err := o.Show(ctx, id); err != nil {
		return nil, err
	}
	return o.store.Keys(ctx, id)
}
