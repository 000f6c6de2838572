package send_test

import (
	"context"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// refusing is a chain on which an attempt is dead and that takes no other.
type refusing struct{ send.Chain }

func (refusing) Fate(context.Context, chain.Attempt) (chain.Status, error) {
	return chain.Status{Fate: chain.Dead}, nil
}

func (refusing) Draft(context.Context, chain.Call, send.Held, money.Amount) (chain.Attempt, error) {
	return chain.Attempt{}, send.ErrRefused
}

// desk is a store with one transfer that notes how it ended.
type desk struct {
	send.Store
	job   send.Job
	ended *send.Result
}

func (d *desk) Live(context.Context, chain.ID, chain.Account) ([]send.Job, error) {
	return []send.Job{d.job}, nil
}
func (d *desk) Halted(context.Context, chain.ID) (string, error) { return "", nil }
func (d *desk) Bury(context.Context, send.ID, int) error         { return nil }
func (d *desk) Held(context.Context, chain.ID, chain.Account) ([]chain.Slot, error) {
	return nil, nil
}

func (d *desk) End(_ context.Context, _ send.ID, r send.Result, _ time.Time) error {
	d.ended = &r
	return nil
}

// TestBringingHomeWhatIsGoneEndsAndAPaymentWaits: an attempt has expired, and the chain
// refuses another.
func TestBringingHomeWhatIsGoneEndsAndAPaymentWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		sources []chain.Source
		ends    bool
	}{
		{"a sweep", []chain.Source{{Index: 1, Amount: money.FromUint64(1)}}, true},
		{"a payment", nil, false},
	} {
		d := &desk{job: send.Job{
			Transfer: send.Transfer{ID: "t", Call: chain.Call{Chain: "sim:x", From: "hot", Sources: c.sources}},
			Attempts: []send.Kept{{N: 1, Attempt: chain.Attempt{Tx: "a"}}},
		}}
		err := send.New("sim:x", "hot", refusing{}, d).Step(t.Context(), start)
		if c.ends != (d.ended != nil) || c.ends != (err == nil) {
			t.Errorf("%s ended as %v, %v", c.name, d.ended, err)
		}
		if c.ends && d.ended.Fate != chain.Dead {
			t.Errorf("%s ended as %s", c.name, d.ended.Fate)
		}
	}
}
