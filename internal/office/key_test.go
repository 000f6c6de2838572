package office_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"ferry/internal/integrator"
	"ferry/internal/office"
)

func TestAKeyIsShownOnceAndKnownByItsDigest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	i := r.create()
	for _, kind := range []integrator.Kind{integrator.Server, integrator.Public} {
		k, text, err := r.IssueKey(t.Context(), i.ID, office.NewKey{Kind: kind, Label: "prod"}, "alice")
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := integrator.KindOf(text.Reveal()); !ok || got != kind || k.Kind != kind {
			t.Errorf("asked for a %s key, got %s and %s", kind, got, k.Kind)
		}
		if k.Digest != integrator.DigestOf(text.Reveal()) || k.Hint != integrator.HintOf(text.Reveal()) || k.Requests != integrator.DefaultKeyRequests {
			t.Errorf("got %+v", k)
		}
		kept, err := r.db.Key(t.Context(), k.ID)
		if err != nil || kept != k {
			t.Errorf("kept as %+v, %v", kept, err)
		}
		e := r.last()
		if e.Action != office.IssuedKey || e.Target != string(k.ID) || !strings.Contains(e.After, fmt.Sprintf("%q", kind)) {
			t.Errorf("written down as %+v", e)
		}
	}
	keys, err := r.Keys(t.Context(), i.ID)
	if err != nil || len(keys) != 2 {
		t.Errorf("got %d keys, %v", len(keys), err)
	}
}

func TestAKeyThatIsWrongIsNotIssued(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	i := r.create()
	for field, n := range map[string]office.NewKey{
		"kind":                  {Kind: "admin", Label: "x"},
		"label":                 {Kind: integrator.Server, Label: strings.Repeat("x", 101)},
		"keyRequestLimitPerMin": {Kind: integrator.Public, Label: "x", Requests: ptr(int64(-5))},
	} {
		k, text, err := r.IssueKey(t.Context(), i.ID, n, "alice")
		refused(t, err, "invalid_field", field)
		if k.ID != "" || !text.IsZero() {
			t.Errorf("a key was shown that is not there: %+v", k)
		}
	}
	if keys, err := r.Keys(t.Context(), i.ID); err != nil || len(keys) != 0 {
		t.Errorf("got %d keys, %v", len(keys), err)
	}
	k, _, err := r.IssueKey(t.Context(), i.ID, office.NewKey{Kind: integrator.Server, Label: "no limit", Requests: ptr(int64(0))}, "alice")
	if err != nil || k.Requests != 0 {
		t.Errorf("a key without a limit of its own: %+v, %v", k, err)
	}
}

func TestRevokingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	i := r.create()
	k, _, err := r.IssueKey(t.Context(), i.ID, office.NewKey{Kind: integrator.Server, Label: "x"}, "alice")
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.RevokeKey(t.Context(), k.ID, "bob")
	if err != nil || !first.Revoked() {
		t.Fatalf("got %+v, %v", first, err)
	}
	r.now = r.now.Add(time.Hour)
	again, err := r.RevokeKey(t.Context(), k.ID, "carol")
	if err != nil || again != first || len(r.entries()) != 3 || r.last().By != "bob" {
		t.Errorf("got %+v, %v, last by %s", again, err, r.last().By)
	}
}

// A21: a public key can not become a server key, because nothing can be asked that
// would do it: only Kind of a new key is taken from outside.
func TestA21NoMethodTakesAKindButIssueKey(t *testing.T) {
	t.Parallel()
	kind := reflect.TypeFor[integrator.Kind]()
	var holds func(reflect.Type, int) bool
	holds = func(typ reflect.Type, deep int) bool {
		switch {
		case typ == kind:
			return true
		case deep > 6:
			return false
		}
		switch typ.Kind() {
		case reflect.Struct:
			for n := range typ.NumField() {
				if holds(typ.Field(n).Type, deep+1) {
					return true
				}
			}
		case reflect.Pointer, reflect.Slice, reflect.Map:
			return holds(typ.Elem(), deep+1)
		}
		return false
	}
	offices := reflect.TypeFor[*office.Office]()
	var takers []string
	for n := range offices.NumMethod() {
		m := offices.Method(n)
		for in := 1; in < m.Type.NumIn(); in++ {
			if holds(m.Type.In(in), 0) {
				takers = append(takers, m.Name)
			}
		}
	}
	if len(takers) != 1 || takers[0] != "IssueKey" {
		t.Errorf("methods that take a kind: %v", takers)
	}
}

// Nothing that is kept, written down or said of a key lets anybody use it.
func TestAnIssuedKeyIsInNoEntryAndNoLogLine(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	i := r.create()
	k, text, err := r.IssueKey(t.Context(), i.ID, office.NewKey{Kind: integrator.Server, Label: "prod"}, "alice")
	if err != nil {
		t.Fatal(err)
	}
	canary := text.Reveal()[10 : len(text.Reveal())-4]
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("issued", "key", k, "secret", text, "holder", struct{ inner any }{text})
	fmt.Fprintf(&out, "%v %+v %#v %s %q", text, []any{text}, map[string]any{"k": text}, text, text)
	for _, e := range r.entries() {
		fmt.Fprintf(&out, "%+v\n", e)
	}
	if _, err := r.RevokeKey(t.Context(), integrator.KeyID("key_none"), "alice"); err != nil {
		fmt.Fprintln(&out, err)
	}
	if strings.Contains(out.String(), canary) {
		t.Error("the key is readable somewhere")
	}
	if !strings.Contains(out.String(), k.Hint) {
		t.Error("not even the hint is readable, so this test looks at nothing")
	}
	digest := fmt.Sprintf("%x", k.Digest)
	for _, e := range r.entries() {
		if strings.Contains(fmt.Sprintf("%+v", e), digest) {
			t.Errorf("entry %d holds the digest of a key", e.Seq)
		}
	}
}
