package access_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"ferry/internal/access"
	"ferry/internal/integrator"
	"ferry/internal/testseed"
)

func TestKeyInAQueryIsFound(t *testing.T) {
	t.Parallel()
	sk, pk := mint(t, integrator.Server, 1), mint(t, integrator.Public, 2)
	for name, query := range map[string]string{
		"A01 as the header":           "X-Integrator-Key=s",
		"A01 small":                   "x-integrator-key=s",
		"A01 underscores":             "x_integrator_key=s",
		"A01 alias":                   "apiKey=s",
		"A01 alias with underscore":   "api_key=s",
		"A01 alias as the header":     "X-API-Key=s",
		"A01 escaped":                 "X%2DIntegrator%2DKey=s",
		"A01 letters escaped":         "%69ntegrator%4Bey=s",
		"A01 escaped twice":           "X%252DIntegrator%252DKey=s",
		"A01 camel":                   "integratorKey=s",
		"A01 list":                    "key[]=s",
		"A01 list escaped":            "key%5B%5D=s",
		"A01 dots":                    "api.key=s",
		"A01 blank as plus":           "integrator+key=s",
		"A01 blank escaped":           "integrator%20key=s",
		"A01 access key":              "ACCESS_KEY=1",
		"A01 token":                   "Token=1",
		"A01 without a value":         "apikey",
		"A01 with an empty value":     "key=",
		"A01 equal sign escaped":      "apikey%3Dabc",
		"A01 kelvin sign":             "api%E2%84%AAey=s",
		"A01 long s":                  "acce%C5%BFskey=s",
		"A01 last of many":            "a=1&b=2&c=3&token=4",
		"A02 after a semicolon":       "a=1;X-Integrator-Key=s",
		"A02 before a semicolon":      "X-Integrator-Key=s;a=1",
		"A02 beside a broken pair":    "%zz=1&X-Integrator-Key=%zz",
		"A02 broken escape in it":     "key=%",
		"A03 server key, any name":    "foo=" + sk,
		"A03 public key, any name":    "foo=" + pk,
		"A03 as a name":               sk + "=1",
		"A03 alone":                   sk,
		"A03 in a longer value":       "foo=x," + sk + ",y",
		"A03 glued to letters":        "foo=abc" + sk + "def",
		"A03 after a broken escape":   "foo=%zz%" + sk,
		"A03 after a short escape":    "foo=%4" + sk + "%",
		"A03 underscores escaped":     "foo=" + strings.ReplaceAll(sk, "_", "%5f"),
		"A03 underscores twice":       "foo=" + strings.ReplaceAll(sk, "_", "%255F"),
		"A03 inside an escaped URL":   "next=" + url.QueryEscape("https://x.test/?a=1&k="+sk),
		"A03 escaped twice":           "next=" + url.QueryEscape(url.QueryEscape("a= "+pk)),
		"A03 after a mark that is no": "foo=_live_sk_live_" + sk,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !access.KeyInQuery(query) {
				t.Errorf("%q passes", query)
			}
		})
	}
}

func TestQueryWithoutAKeyPasses(t *testing.T) {
	t.Parallel()
	sk := mint(t, integrator.Server, 1)
	other := byte('A')
	if sk[20] == other {
		other = 'B'
	}
	for _, query := range []string{
		"", "a=1", "&", ";", "=", "&&;;==", "%", "%%%", "verify=0x52908400098527886E0F7030069857D2E4169EE7",
		"cursor=abc_live_def&limit=20", "keys=1", "tokens=1", "monkey=1", "fromToken=native", "search=key", "search=token;a=apikey",
		"keyId=key_1", "x=sk_live_", "x=sk_live_short", "next=%2Fa%3Fb%3Dc", "a=%zz", "tokenizer", "xxintegratorkey=1",
		"x=" + sk[:20] + string(other) + sk[21:], // a wrong letter
		"x=" + sk[:len(sk)-1],                    // cut off
		"x=" + sk[1:],
		"x=" + strings.ToUpper(sk),
		"x=" + sk[:30] + "&y=" + sk[30:],
		strings.Repeat("-_.[]", 1000) + "=1",
		strings.Repeat("sk_live_", 500),
	} {
		if access.KeyInQuery(query) {
			t.Errorf("%q is refused", query)
		}
	}
}

func TestUsualQueryCostsNoAllocation(t *testing.T) {
	usual := []string{"", "a=1", "fromChainId=bitcoin&fromToken=native&toChainId=solana&toToken=native;x=_live_", "verify=bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}
	if n := testing.AllocsPerRun(100, func() {
		for _, q := range usual {
			if access.KeyInQuery(q) {
				t.Fatal(q)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// disguise writes a text so that one or two decodings give it back, each letter in
// its own way.
func disguise(r *rand.Rand, text string) string {
	var out strings.Builder
	forms := []string{"%c", "%%%02x", "%%%02X", "%%25%02x", "%%25%02X"}
	for i := range len(text) {
		fmt.Fprintf(&out, forms[r.IntN(len(forms))], text[i])
	}
	return out.String()
}

// around are things that stand beside a key without being part of it.
var around = []string{"", "a=1&", "foo=", "foo=x,", "%", "%zz", "%4", "&&", ";", "=", "%2", "%25", "x%3D", "_live_", "sk_live_", "+", "%00", "é"}

func FuzzKeyInQuery(f *testing.F) {
	f.Add(uint64(1), "a=1&b=", "&c=%zz")
	f.Add(uint64(2), "%", "%")
	f.Add(uint64(3), "sk_live", "")
	f.Fuzz(func(t *testing.T, seed uint64, before, after string) {
		r := rand.New(rand.NewPCG(seed, 1))
		kind := []integrator.Kind{integrator.Server, integrator.Public}[r.IntN(2)]
		key := mint(t, kind, seed)
		for _, query := range []string{
			before + key + after,
			around[r.IntN(len(around))] + disguise(r, key) + around[r.IntN(len(around))],
			"a=" + url.QueryEscape(before+" "+key+" "+after),
			"a=" + url.QueryEscape(url.QueryEscape(before+" "+key+" "+after)),
			before + ";" + disguise(r, "X-Integrator-Key") + "=" + after,
			before + "&" + disguise(r, "api_key") + "&" + after,
		} {
			if !access.KeyInQuery(query) {
				t.Errorf("%q passes", query)
			}
		}
		access.KeyInQuery(before + after) // it must not panic, whatever comes
	})
}

// Every key is found in every disguise.
func TestNoDisguiseHidesAKey(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 3000 {
		key := mint(t, []integrator.Kind{integrator.Server, integrator.Public}[r.IntN(2)], r.Uint64())
		query := around[r.IntN(len(around))] + around[r.IntN(len(around))] + disguise(r, key) + around[r.IntN(len(around))]
		if !access.KeyInQuery(query) {
			t.Fatalf("%q passes", query)
		}
	}
}

func BenchmarkKeyInQuery(b *testing.B) {
	for name, query := range map[string]string{
		"empty":   "",
		"usual":   "fromChainId=bitcoin&fromToken=native&toChainId=solana&toToken=native",
		"escaped": "search=a%20b&limit=20",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if access.KeyInQuery(query) {
					b.Fatal(query)
				}
			}
		})
	}
}
