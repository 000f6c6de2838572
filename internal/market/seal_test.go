package market_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

func quoteAsset(ref string) chain.Asset { return chain.Asset{Chain: "eip155:1", Ref: ref} }

func newSeal(t testing.TB, b byte) *market.Seal {
	t.Helper()
	s, err := market.NewSeal(hexSecret(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func offered(t testing.TB, change ...func(*market.Ask)) (*rig, market.Offer) {
	t.Helper()
	r := newRig(t)
	a := withFee(swap(usdc, 10_000_000), 10_000)
	for _, c := range change {
		c(&a)
	}
	o, err := r.Quote(t.Context(), a, start)
	if err != nil {
		t.Fatal(err)
	}
	return r, o
}

var byValue = cmp.Options{
	cmp.Comparer(func(a, b money.Amount) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmpopts.EquateEmpty(),
}

func TestASealedOfferOpensAsItWas(t *testing.T) {
	t.Parallel()
	s := newSeal(t, 1)
	_, o := offered(t)
	id, err := s.Close(o)
	if err != nil || !strings.HasPrefix(id, "quo_") || len(id) > 500 || strings.ContainsAny(id, "+/=") {
		t.Fatalf("got %q, %v", id, err)
	}
	got, err := s.Open(id, "int_1", start.Add(time.Minute-1))
	if err != nil {
		t.Fatal(err)
	}
	o.Quote.ID = market.ShortID(id)
	if diff := cmp.Diff(o, got, byValue); diff != "" {
		t.Error(diff)
	}
	if err := got.Quote.Check(); err != nil {
		t.Error(err)
	}
	if len(got.Quote.ID) != 30 || !strings.HasPrefix(string(got.Quote.ID), "quo_") {
		t.Errorf("its name is %s", got.Quote.ID)
	}
	if again, err := s.Close(o); err != nil || again == id {
		t.Errorf("two seals of one offer are the same: %v", err)
	}
}

// fill sets every field to something that is not zero, so that one which the seal
// forgets comes back different.
func fill(v reflect.Value, seed *int64) {
	*seed++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(start.Add(time.Duration(*seed) * time.Hour)))
		return
	case money.Amount:
		v.Set(reflect.ValueOf(money.MustParse(fmt.Sprintf("%d%040d", *seed, *seed))))
		return
	case chain.Address:
		v.Set(reflect.ValueOf(chain.CanonicalAddress(chain.EVM, fmt.Sprint("0x", *seed))))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), seed)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), seed)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), seed)
		fill(v.Index(1), seed)
	case reflect.String:
		v.SetString(fmt.Sprint("s", *seed))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(*seed)
	case reflect.Uint64, reflect.Uint8:
		v.SetUint(uint64(*seed) % 200)
	default:
		panic("no value for a " + v.Kind().String())
	}
}

func TestEveryFieldOfAnOfferIsSealed(t *testing.T) {
	t.Parallel()
	var o market.Offer
	var seed int64
	v := reflect.ValueOf(&o).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "Dropped" && name != "To" {
			fill(v.Field(i), &seed)
		}
	}
	// These follow from one another.
	o.Quote.Give, o.Quote.Get = o.Give.Asset, o.Get.Asset
	o.Quote.Shown = quote.Shown{} // which is made of the offer when an order is
	o.Quote.Fee = &quote.Fee{Percent: o.Earning.Percent, PayTo: o.Earning.PayTo, Skipped: o.Earning.Skipped}
	s := newSeal(t, 1)
	id, err := s.Close(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Open(id, o.Quote.Integrator, start)
	if err != nil {
		t.Fatal(err)
	}
	o.Quote.ID = market.ShortID(id)
	if diff := cmp.Diff(o, got, byValue); diff != "" {
		t.Error(diff)
	}
}

func TestWhatWasNotSealedHereForYouIsNotFound(t *testing.T) {
	t.Parallel()
	s := newSeal(t, 1)
	_, o := offered(t)
	id, err := s.Close(o)
	if err != nil {
		t.Fatal(err)
	}
	_, plain := offered(t, func(a *market.Ask) { *a = swap(usdc, 100_000) })
	anonymous, err := s.Close(plain)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(id[4:])
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		id  string
		who string
	}{
		"another integrator":         {id, "int_2"},
		"nobody":                     {id, ""},
		"an integrator for nobody's": {anonymous, "int_1"},
		"nothing":                    {"", "int_1"},
		"only a prefix":              {"quo_", "int_1"},
		"another prefix":             {"ord_" + id[4:], "int_1"},
		"no prefix":                  {id[4:], "int_1"},
		"another case":               {strings.ToUpper(id), "int_1"},
		"not base64":                 {"quo_!!!!", "int_1"},
		"with padding":               {id + "=", "int_1"},
		"with a line break":          {id[:40] + "\n" + id[40:], "int_1"},
		"with a carriage return":     {id + "\r", "int_1"},
		"cut":                        {id[:len(id)-2], "int_1"},
		"longer":                     {id + "AA", "int_1"},
		"very long":                  {"quo_" + strings.Repeat("A", 1<<20), "int_1"},
		"another version":            {"quo_" + base64.RawURLEncoding.EncodeToString(append([]byte{1}, raw[1:]...)), "int_1"},
		"short of a tag":             {"quo_" + base64.RawURLEncoding.EncodeToString(raw[:40]), "int_1"},
		"its own short name":         {string(market.ShortID(id)), "int_1"},
		"only the standard alphabet": {"quo_" + strings.ReplaceAll(base64.RawStdEncoding.EncodeToString(raw), "-", "+") + "+/", "int_1"},
	}
	var first string
	for name, c := range cases {
		_, err := s.Open(c.id, integratorID(c.who), start)
		f := mustFault(t, err, fault.NotFound, "quote_not_found")
		if first == "" {
			first = f.Error()
		}
		if f.Error() != first || errors.Unwrap(&f) != nil || f.Detail != nil {
			t.Errorf("%s: is told apart: %v", name, &f)
		}
	}
	_, err = newSeal(t, 2).Open(id, "int_1", start)
	mustFault(t, err, fault.NotFound, "quote_not_found")
	// Base64 of a length that leaves bits over has several texts for one content.
	for len(id)%4 == 0 {
		o.Venue += "x"
		if id, err = s.Close(o); err != nil {
			t.Fatal(err)
		}
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, id[len(id)-1])
	_, err = s.Open(id[:len(id)-1]+string(alphabet[last+1]), "int_1", start)
	mustFault(t, err, fault.NotFound, "quote_not_found")
	for i := range raw { // every bit counts
		bent := append([]byte{}, raw...)
		bent[i] ^= 1 << (i % 8)
		_, err := s.Open("quo_"+base64.RawURLEncoding.EncodeToString(bent), "int_1", start)
		mustFault(t, err, fault.NotFound, "quote_not_found")
	}
}

func TestAnOfferExpires(t *testing.T) {
	t.Parallel()
	s := newSeal(t, 1)
	r, o := offered(t)
	id, err := s.Close(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, late := range []time.Duration{time.Minute, time.Hour} {
		_, err = s.Open(id, "int_1", start.Add(late))
		if f := mustFault(t, err, fault.Conflict, "quote_expired"); !strings.Contains(f.Text, "2026-01-02T03:05:05.678Z") {
			t.Errorf("got %s", f.Text)
		}
		_, err = r.Accept(t.Context(), o, start.Add(late))
		mustFault(t, err, fault.Conflict, "quote_expired")
	}
	// To another integrator an expired one is as little there as any.
	_, err = s.Open(id, "int_2", start.Add(time.Hour))
	mustFault(t, err, fault.NotFound, "quote_not_found")
}

func TestASecretMustBeOne(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "short": "abcd", "not hex": strings.Repeat("zz", 32), "all zero": strings.Repeat("00", 32), "one byte": strings.Repeat("a7", 32),
		"long": strings.Repeat("ab", 33), "raw bytes": strings.Repeat("k", 32),
	} {
		_, err := market.NewSeal(hidden(text))
		_, err2 := market.NewSigner(hidden(text))
		if err == nil || err2 == nil || (len(text) > 8 && strings.Contains(err.Error()+err2.Error(), text[:8])) {
			t.Errorf("%s: got %v and %v", name, err, err2)
		}
	}
	if _, err := market.NewSeal(nil); err == nil {
		t.Error("no secret was taken")
	}
	s, err := market.NewSigner(hexSecret(0xab))
	if err != nil {
		t.Fatal(err)
	}
	seen := fmt.Sprintf("%v %+v %#v %v %+v", s, s, s, newSeal(t, 0xab), *newSeal(t, 0xab))
	if strings.Contains(seen, "171 0 0") || strings.Contains(seen, "0xab, 0x0") {
		t.Errorf("the key is printed: %s", seen)
	}
}

func FuzzOpen(f *testing.F) {
	s := newSeal(f, 1)
	_, o := offered(f)
	id, err := s.Close(o)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{id, id[:50], "quo_", "", "quo_AA", "quo_" + strings.Repeat("A", 100), strings.Replace(id, "quo_", "quo_\n", 1)} {
		f.Add(text, "int_1")
	}
	f.Fuzz(func(t *testing.T, text, who string) {
		got, err := s.Open(text, integratorID(who), start)
		if err == nil { // then it is one of the seeds, which every process seals for itself
			raw, derr := base64.RawURLEncoding.DecodeString(text[4:])
			if derr != nil || "quo_"+base64.RawURLEncoding.EncodeToString(raw) != text || who != "int_1" || got.Quote.Out != o.Quote.Out {
				t.Fatalf("%q opened for %q as %+v", text, who, got)
			}
		}
		if err != nil && fault.Of(err).Code != "quote_not_found" {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
