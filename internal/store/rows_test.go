package store

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/settle"
	"ferry/internal/testseed"
)

// random fills every field of a value, so that a field that a row forgets shows.
type random struct{ *rand.Rand }

func (r random) text() string {
	const letters = "abcäöü'\"\\/{}<&>\u2028 0123456789"
	runes := []rune(letters)
	b := make([]rune, r.IntN(12))
	for i := range b {
		b[i] = runes[r.IntN(len(runes))]
	}
	return string(b)
}

func (r random) fill(v reflect.Value) {
	switch v.Interface().(type) {
	case money.Amount:
		a := money.FromUint64(r.Uint64())
		if r.IntN(2) == 0 {
			a, _ = a.MulDiv(money.FromUint64(r.Uint64()), money.FromUint64(1), money.Down)
		}
		v.Set(reflect.ValueOf(a))
		return
	case chain.Address:
		v.Set(reflect.ValueOf(chain.CanonicalAddress(chain.Family(r.text()), r.text())))
		return
	case time.Time:
		at := time.UnixMicro(r.Int64N(1 << 52)).UTC()
		if r.IntN(4) == 0 {
			at = time.Time{}
		}
		v.Set(reflect.ValueOf(at))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			r.fill(v.Field(i))
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem())
		}
	case reflect.Slice:
		n := r.IntN(4)
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			r.fill(v.Index(i))
		}
	case reflect.Map:
		for range r.IntN(4) {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.fill(k)
			r.fill(e)
			v.SetMapIndex(k, e)
		}
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i))
		}
	case reflect.String:
		v.SetString(r.text())
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(int32(r.Uint32())))
	case reflect.Uint64, reflect.Uint32, reflect.Uint8:
		v.SetUint(uint64(uint8(r.Uint32())))
	default:
		panic("no random " + v.Type().String())
	}
}

func randomly(t *testing.T, f func(r random)) {
	t.Helper()
	r := random{rand.New(rand.NewPCG(testseed.Of(t), 1))}
	for range 300 {
		f(r)
	}
}

func TestOrdersComeBackAsTheyWere(t *testing.T) {
	randomly(t, func(r random) {
		var o order.Order
		r.fill(reflect.ValueOf(&o).Elem())
		o.State = order.States()[r.IntN(len(order.States()))]
		terms, err := writeDoc(termsToRow(o))
		if err != nil {
			t.Fatal(err)
		}
		after, err := writeDoc(orderToRow(o))
		if err != nil {
			t.Fatal(err)
		}
		back, err := orderFromDocs(terms, after)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(o, back) {
			t.Fatalf("was  %+v\nnow  %+v\nin   %s\nand  %s", o, back, terms, after)
		}
	})
}

// Whatever a change touches is written down: among the terms, or in what became
// of the order.
func TestAnyFieldThatChangesIsWritten(t *testing.T) {
	randomly(t, func(r random) {
		var was order.Order
		r.fill(reflect.ValueOf(&was).Elem())
		if !sameTerms(was, was) {
			t.Fatal("an order differs from itself")
		}
		for i := range reflect.TypeFor[order.Order]().NumField() {
			now := was
			r.fill(reflect.ValueOf(&now).Elem().Field(i))
			if back := orderToRow(now).order(was); sameTerms(was, now) && !reflect.DeepEqual(back, now) {
				t.Fatalf("a change of %s is lost", reflect.TypeFor[order.Order]().Field(i).Name)
			}
		}
	})
}

func TestTransfersComeBackAsTheyWere(t *testing.T) {
	randomly(t, func(r random) {
		var w send.Transfer
		r.fill(reflect.ValueOf(&w).Elem())
		w.Call.For = "" // the transfer has its name already
		doc, err := writeDoc(transferToRow(w))
		if err != nil {
			t.Fatal(err)
		}
		back, err := transferFromDoc(doc)
		if err != nil || !reflect.DeepEqual(w, back) {
			t.Fatalf("was %+v, now %+v, %v", w, back, err)
		}
		var k send.Kept
		r.fill(reflect.ValueOf(&k).Elem())
		row, err := attemptToRow(k)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := row.kept(); err != nil || !reflect.DeepEqual(k, kept) {
			t.Fatalf("was %+v, now %+v, %v", k, kept, err)
		}
		var res send.Result
		r.fill(reflect.ValueOf(&res).Elem())
		if got := resultToRow(res).result(); !reflect.DeepEqual(got, res) {
			t.Fatalf("was %+v, now %+v", res, got)
		}
	})
}

func TestWorkComesBackAsItWas(t *testing.T) {
	randomly(t, func(r random) {
		var wish order.Wish
		var price order.Price
		var step order.RunStep
		var look order.LookBridge
		r.fill(reflect.ValueOf(&wish).Elem())
		r.fill(reflect.ValueOf(&price).Elem())
		r.fill(reflect.ValueOf(&step).Elem())
		r.fill(reflect.ValueOf(&look).Elem())
		wish.Call.For, price.Call.For = "", "" // whoever sends it says for whom
		for _, e := range []order.Effect{wish, price, step, look} {
			w, err := effectToRow("ord", 7, e)
			if err != nil {
				t.Fatal(err)
			}
			back, err := workFromRow(settle.Work{ID: w.id}, w.kind, w.doc)
			if err != nil || !reflect.DeepEqual(back.Effect, e) {
				t.Fatalf("was %+v, now %+v, %v", e, back.Effect, err)
			}
		}
	})
	if _, err := effectToRow("ord", 7, order.AskHuman{}); err == nil {
		t.Error("a question became work")
	}
	for kind, doc := range map[string]string{"wish": "{", "price": `{"v":2}`, "nothing": `{"v":1}`, "closed": `{"v":1}`} {
		if _, err := workFromRow(settle.Work{}, kind, doc); err == nil {
			t.Errorf("%s was read from %s", kind, doc)
		}
	}
}

// Every event must leave something of itself behind, but for those that say
// nothing beyond their name.
func TestEventsAreWrittenDown(t *testing.T) {
	r := random{rand.New(rand.NewPCG(1, 1))}
	events := []order.Event{
		&order.DepositSeen{}, &order.DepositFinal{}, &order.DepositGone{}, &order.CostCorrected{}, &order.StepDone{}, &order.StepFailed{},
		&order.PayoutFinal{}, &order.PayoutFailed{}, &order.RefundPriced{}, &order.RefundBelowCost{}, &order.RefundFinal{}, &order.RefundFailed{},
		&order.FeeSkipped{}, &order.FeePaid{}, &order.FeeFailed{}, &order.RecoveryPriced{}, &order.RecoveryDust{}, &order.RecoveryFinal{},
		&order.RecoveryFailed{}, &order.RecoveryDue{}, &order.RefundAddressGiven{}, &order.RefundAsked{}, &order.RequoteOffered{}, &order.RequoteAccepted{},
		&order.DeadlinePassed{}, &order.Stopped{}, &order.Lifted{}, &order.StepSubmitted{}, &order.BridgeSeen{},
	}
	for _, e := range events {
		v := reflect.ValueOf(e).Elem()
		for v.Type().NumField() > 0 && reflect.DeepEqual(v.Interface(), reflect.Zero(v.Type()).Interface()) {
			r.fill(v)
		}
		doc, err := json.Marshal(eventToRow(v.Interface().(order.Event)))
		if err != nil || string(doc) == `{"v":1}` {
			t.Errorf("%s: %s, %v", e.Name(), doc, err)
		}
	}
}

func TestADocumentFromTheFutureIsRefused(t *testing.T) {
	terms, err := writeDoc(termsToRow(order.Order{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{`{"v":2}`, `{}`, `{"v":1,"session":"00"}`, `[]`} {
		if _, err := orderFromDocs(doc, `{"v":1}`); err == nil {
			t.Errorf("terms %s were read", doc)
		}
	}
	for _, doc := range []string{`{"v":2}`, `{}`, `[]`} {
		if _, err := orderFromDocs(terms, doc); err == nil {
			t.Errorf("order %s was read", doc)
		}
	}
}
