package office_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/store"
)

// codecs are those of the simulated chains.
type codecs map[chain.Family]sim.Codec

func (c codecs) Parse(f chain.Family, text string) (chain.Address, error) {
	codec, ok := c[f]
	if !ok {
		return chain.Address{}, fmt.Errorf("no codec of %s", f)
	}
	return codec.Parse(text)
}

var families = codecs{
	chain.EVM: sim.NewCodec(chain.EVM, sim.Nonces), chain.Solana: sim.NewCodec(chain.Solana, sim.Expiring), chain.Bitcoin: sim.NewCodec(chain.Bitcoin, sim.Coins),
}

// rig is an office on a database of its own, with a clock that is set by hand.
type rig struct {
	*testing.T
	*office.Office
	db  *store.DB
	now time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Error(err)
		}
	})
	r := &rig{T: t, db: db, now: time.Date(2026, 3, 4, 5, 6, 7, 891_234_567, time.FixedZone("", 3600))}
	r.Office = office.New(db, families, func() time.Time { return r.now })
	return r
}

func (r *rig) create() integrator.Integrator {
	r.Helper()
	i, err := r.Create(r.Context(), "Acme Wallet", "alice")
	if err != nil {
		r.Fatal(err)
	}
	return i
}

// entries is the whole log.
func (r *rig) entries() []office.Entry {
	r.Helper()
	log, err := r.Audit(r.Context(), 0, office.MaxPage)
	if err != nil {
		r.Fatal(err)
	}
	return log
}

func (r *rig) last() office.Entry {
	r.Helper()
	log := r.entries()
	if len(log) == 0 {
		r.Fatal("nothing was written down")
	}
	return log[len(log)-1]
}

// refused fails unless err is a fault with that code whose text is a sentence, and
// about that field where one is given.
func refused(t *testing.T, err error, code, field string) {
	t.Helper()
	f := fault.Of(err)
	if f.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	if !strings.HasSuffix(f.Text, ".") || len(f.Text) < 20 {
		t.Errorf("%q does not say what to do", f.Text)
	}
	if field != "" && (f.Detail["field"] != field || !strings.Contains(f.Text, field)) {
		t.Errorf("got %v about %v, want it about %s", f.Text, f.Detail, field)
	}
	if errors.Is(err, office.ErrNotFound) && f.Kind != fault.NotFound {
		t.Errorf("%v is not said to be not found", err)
	}
}

func ptr[T any](v T) *T { return &v }
