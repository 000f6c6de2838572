package wire_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/api/wire"
	"ferry/internal/money"
	"ferry/internal/testseed"
)

var oddTexts = []string{"", "plain", "0x5fbdb2315678afecb367f032d93f642f64180aa3", `a"b`, `a\b`, "a\nb\tc\x00\x1f", "<&>", "\u007f", "\u2028", "ä€😀", "quo_" + strings.Repeat("A", 700)}

// fill gives every part of a value something, often at an edge.
func fill(random *rand.Rand, v reflect.Value) {
	switch at := v.Addr().Interface().(type) {
	case *wire.Amount:
		digits := random.IntN(78)
		at.Amount = money.MustParse(strings.TrimLeft("1"+strings.Repeat(strconv.Itoa(random.IntN(10)), digits), "0")[:max(digits, 1)])
		return
	case *wire.Time:
		at.Time = time.Unix(random.Int64N(253402300800), random.Int64N(1e9)).In(time.FixedZone("", random.IntN(50000)-25000))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(oddTexts[random.IntN(len(oddTexts))])
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(random.Int64() >> random.IntN(64) * int64(1-2*random.IntN(2)))
	case reflect.Pointer:
		if random.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(random, v.Elem())
		}
	case reflect.Slice:
		if n := random.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				fill(random, v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(random, v.Field(i))
		}
	default:
		panic("the test knows no " + v.Kind().String())
	}
}

// What a quote writes by itself is what the library writes.
func TestAQuoteIsWrittenAsTheLibraryWritesIt(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
	for range 5_000 {
		var q wire.Quote
		fill(random, reflect.ValueOf(&q).Elem())
		want, err := json.Marshal(&q, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		got, err := wire.Bytes(&q)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got\n%s, %v, want\n%s", got, err, want)
		}
		var b bytes.Buffer
		b.WriteString("before ")
		if err := wire.Encode(&b, &q); err != nil || b.String() != "before "+string(want) {
			t.Fatalf("got\n%s, %v, want\n%s", &b, err, want)
		}
	}
	for c := range 256 { // each byte, at each place of a text that is looked at in parts
		for at := range 20 {
			text := strings.Repeat("z", at) + string(rune(c)) + strings.Repeat("!", 20-at)
			q := wire.Quote{Rate: text}
			want, err := json.Marshal(&q)
			if got, err2 := wire.Bytes(&q); err != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Fatalf("%q: got %s, %v, want %s, %v", text, got, err2, want, err)
			}
		}
	}
	q := wire.Quote{Rate: "\xff"}
	if _, err := wire.Bytes(&q); err == nil {
		t.Error("a text that is not UTF-8 was written")
	}
	if err := wire.Encode(&bytes.Buffer{}, &q); err == nil {
		t.Error("a text that is not UTF-8 was written")
	}
}

func TestMomentsAreWrittenAsTheirFormSays(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
	for range 5_000 {
		at := time.Unix(random.Int64()>>(random.IntN(20)+10), random.Int64N(1e9))
		got, err := wire.Time{Time: at}.MarshalText()
		if want := at.UTC().Format("2006-01-02T15:04:05.000Z"); err != nil || string(got) != want {
			t.Fatalf("got %s, %v, want %s", got, err, want)
		}
	}
}

func BenchmarkQuote(b *testing.B) {
	body := []byte(`{"fromChainId":"bitcoin","fromToken":"native","toChainId":"ethereum","toToken":"0x5fbdb2315678afecb367f032d93f642f64180aa3","amount":"1000000","side":"from","rateMode":"float","toAddress":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"}`)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var q wire.QuoteRequest
			if err := wire.Decode(body, &q); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		q := wire.Quote{QuoteID: oddTexts[len(oddTexts)-1], Fees: make([]wire.Fee, 3), IntegratorFee: &wire.IntegratorFee{Percent: 5000}}
		var buffer bytes.Buffer
		b.ReportAllocs()
		for b.Loop() {
			buffer.Reset()
			if err := wire.Encode(&buffer, &q); err != nil {
				b.Fatal(err)
			}
		}
	})
}
