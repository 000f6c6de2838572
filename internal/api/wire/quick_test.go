package wire_test

import (
	"reflect"
	"strings"
	"testing"

	"ferry/internal/api/wire"
	"ferry/internal/testseed"
)

// flat has a field of every kind that the quick way reads, and one that it does not.
type flat struct {
	Text    string        `json:"text"`
	Amount  wire.Amount   `json:"amount,omitzero"`
	Percent *wire.Percent `json:"percent,omitzero" maximum:"10"`
	Choice  string        `json:"choice,omitzero" enum:"one,two"`
	Count   int           `json:"count,omitzero" minimum:"1"`
	Flag    bool          `json:"flag,omitzero"`
	At      wire.Time     `json:"at,omitzero"`
	USD     wire.USD      `json:"usd,omitzero"`
	List    []string      `json:"list,omitzero"`
	Null    *int          `json:"null"`
}

const sound = `{"text":"a b","amount":"100","percent":0.5,"choice":"one","count":-0,"flag":true,"at":"2026-01-01T00:00:00.000Z","usd":"1.5","null":1}`

// sameAsWhole: what the quick way takes the decoder takes too, as the same.
func sameAsWhole(t *testing.T, body []byte) bool {
	t.Helper()
	var fast, slow flat
	if !wire.Quick(body, &fast) {
		return false
	}
	if err := wire.DecodeWhole(body, &slow); err != nil || !reflect.DeepEqual(fast, slow) {
		t.Fatalf("%q is %+v in the quick way, and %+v, %v", body, fast, slow, err)
	}
	return true
}

func TestTheQuickWayTakesWhatIsPlainAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	good := strings.Replace(sound, "-0", "1", 1)
	for body, want := range map[string]bool{
		good: true, " \t\r\n" + good + "\n ": true, strings.ReplaceAll(good, `":`, "\" :\t"): true, `{"text":"a","null":1}`: true,
		`{"text":"a","percent":10,"null":1}`: true, `{"text":"a","percent":10.5,"null":1}`: false, `{"text":"a","percent":1e1,"null":1}`: false,
		sound: false, "": false, "{": false, "{}": false, good + "x": false, good + good: false, "[" + good + "]": false,
		`{"text":"a"}`: false, `{"text":"a","null":null}`: false, `{"text":"a","text":"a","null":1}`: false, `{"Text":"a","null":1}`: false,
		`{"text":"a","null":1,}`: false, `{"text":"a",,"null":1}`: false, `{,"text":"a","null":1}`: false, `{"text" "a","null":1}`: false,
		`{"text":"a\u0062","null":1}`: false, `{"te\u0078t":"a","null":1}`: false, `{"text":"ä","null":1}`: false, `{"text":"","null":1}`: false,
		`{"text":1,"null":1}`: false, `{"text":"a","null":01}`: false, `{"text":"a","null":1.}`: false, `{"text":"a","null":.1}`: false,
		`{"text":"a","null":-}`: false, `{"text":"a","null":+1}`: false, `{"text":"a","null":1.5}`: false, `{"text":"a","null":1 2}`: false,
		`{"text":"a","null":1,"flag":tru}`: false, `{"text":"a","null":1,"flag":truefalse}`: false, `{"text":"a","null":1,"list":[]}`: false,
		`{"text":"a","null":1,"list":1}`: false, `{"text":"a","null":1,"choice":"three"}`: false, `{"text":"` + strings.Repeat("a", 5000) + `","null":1}`: false,
	} {
		if got := sameAsWhole(t, []byte(body)); got != want {
			t.Errorf("%.200s: taken %t, want %t", body, got, want)
		}
	}
}

// Bodies with something changed are taken as the decoder takes them, or left to it.
func TestTheQuickWayNeverDiffers(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
	const letters = `{}[]":,.-+0123456789eEtrufalsn \tab\n\x00é`
	taken := 0
	for range 100_000 {
		body := []byte(strings.Replace(sound, "-0", "1", 1))
		for range random.IntN(4) {
			i := random.IntN(len(body))
			switch random.IntN(3) {
			case 0:
				body[i] = letters[random.IntN(len(letters))]
			case 1:
				body = append(body[:i:i], body[i+1:]...)
			default:
				body = append(append(body[:i:i], letters[random.IntN(len(letters))]), body[i:]...)
			}
		}
		if sameAsWhole(t, body) {
			taken++
		}
	}
	if taken == 0 {
		t.Error("nothing was taken")
	}
}

func FuzzQuick(f *testing.F) {
	for _, text := range []string{sound, strings.Replace(sound, "-0", "1", 1), `{"text":"a","null":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) { sameAsWhole(t, body) })
}
