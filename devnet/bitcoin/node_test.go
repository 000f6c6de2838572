package bitcoin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
)

// rig is a node with a test around it.
type rig struct {
	*Node
	t *testing.T
}

func open(t *testing.T, folder, spec string) rig {
	t.Helper()
	n, err := Open(t.Context(), folder, json.RawMessage(spec))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return rig{n, t}
}

func (r rig) do(op, in string) map[string]any {
	r.t.Helper()
	v, err := r.Do(r.t.Context(), op, json.RawMessage(in))
	if err != nil {
		r.t.Fatalf("%s: %v", op, err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		r.t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// ask asks over HTTP; a refusal is its code.
func (r rig) ask(out any, method, params string) int {
	r.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[%s]}`, method, params)
	resp, err := http.Post(r.RPC(), "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var said struct {
		Result json.RawMessage
		Error  *fail
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		r.t.Fatal(err)
	}
	if said.Error != nil {
		return said.Error.Code
	}
	if out != nil {
		if err := json.Unmarshal(said.Result, out); err != nil {
			r.t.Fatalf("%s: %v in %s", method, err, said.Result)
		}
	}
	return 0
}

func (r rig) somebody(name string) string {
	hash := make([]byte, 20)
	copy(hash, name)
	a, err := address.NewAddressWitnessPubKeyHash(hash, &r.params)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.EncodeAddress()
}

// paid is what an address has on the chain.
func (r rig) paid(who string) float64 {
	r.t.Helper()
	var s struct {
		Total float64 `json:"total_amount"`
	}
	if code := r.ask(&s, "scantxoutset", fmt.Sprintf(`"start",["addr(%s)"]`, who)); code != 0 {
		r.t.Fatalf("scan: %d", code)
	}
	return s.Total
}

func TestAPaymentLandsVanishesAndWaitsAgain(t *testing.T) {
	t.Parallel()
	for _, lose := range []bool{false, true} {
		r := open(t, "", `{}`)
		bob := r.somebody("bob")
		id := r.do("pay", fmt.Sprintf(`{"outs":[{"address":%q,"amount":100000}]}`, bob))["tx"]
		r.do("mine", `{"n":2}`)
		if got := r.paid(bob); got != 0.001 {
			t.Fatalf("bob has %v", got)
		}
		was := r.do("head", "")
		now := r.do("reorg", fmt.Sprintf(`{"depth":2,"lose":%t}`, lose))
		if was["height"].(float64)+1 != now["height"].(float64) || r.paid(bob) != 0 {
			t.Fatalf("after the reorg from %v to %v bob has %v", was, now, r.paid(bob))
		}
		var head struct{ Confirmations, Height int }
		if code := r.ask(&head, "getblockheader", fmt.Sprintf("%q", was["hash"])); code != 0 || head.Confirmations != -1 || float64(head.Height) != was["height"] {
			t.Fatalf("the orphan is shown as %+v, %d", head, code)
		}
		want := 0
		if lose {
			want = codeNotFound
		}
		if code := r.ask(nil, "getrawtransaction", fmt.Sprintf("%q,true", id)); code != want {
			t.Fatalf("lose %t: asking for it gave %d", lose, code)
		}
		r.do("mine", `{}`)
		if got := r.paid(bob); (got != 0) == lose {
			t.Fatalf("lose %t: bob has %v", lose, got)
		}
	}
}

func TestEveryWaitingPaymentCanBeReplaced(t *testing.T) {
	t.Parallel()
	r := open(t, "", `{"maturity":2}`)
	bob := r.somebody("bob")
	for _, final := range []bool{false, true} {
		id := r.do("pay", fmt.Sprintf(`{"outs":[{"address":%q,"amount":100000}],"final":%t}`, bob, final))["tx"].(string)
		other := r.do("divert", fmt.Sprintf(`{"tx":%q}`, id))["tx"].(string)
		if r.ask(nil, "getmempoolentry", fmt.Sprintf("%q", id)) != codeNotFound || r.ask(nil, "getmempoolentry", fmt.Sprintf("%q", other)) != 0 {
			t.Fatalf("final %t: it was not replaced", final)
		}
	}
	r.do("mine", `{}`)
	if r.paid(bob) != 0 {
		t.Fatal("bob was paid")
	}
}

func TestBadTransactionsAreRefusedWithCoresCodes(t *testing.T) {
	t.Parallel()
	r := open(t, "", `{"maturity":2}`)
	bob := r.somebody("bob")
	raw := r.do("make", fmt.Sprintf(`{"outs":[{"address":%q,"amount":100000}]}`, bob))["raw"].(string)
	dust := r.do("make", fmt.Sprintf(`{"outs":[{"address":%q,"amount":10}]}`, bob))["raw"].(string)
	at := len(raw) - 100 // in the signature
	bad := raw[:at] + string("123456789abcdef00"[strings.IndexByte("0123456789abcdef", raw[at])]) + raw[at+1:]
	for _, c := range []struct {
		name, raw string
		want      int
	}{
		{"no hex", "zz", codeDecode},
		{"cut", raw[:len(raw)-2], codeDecode},
		{"too long", raw + "00", codeDecode},
		{"dust", dust, codeRejected},
		{"altered", bad, codeRejected},
		{"good", raw, 0},
		{"again", raw, 0},
	} {
		if code := r.ask(nil, "sendrawtransaction", fmt.Sprintf("%q", c.raw)); code != c.want {
			t.Errorf("%s: %d, want %d", c.name, code, c.want)
		}
	}
	r.do("mine", `{}`)
	if code := r.ask(nil, "sendrawtransaction", fmt.Sprintf("%q", raw)); code != codeKnown {
		t.Errorf("one that has landed gave %d", code)
	}
}

func TestTheMinerTakesTheGoingPrice(t *testing.T) {
	t.Parallel()
	r := open(t, "", `{"maturity":2}`)
	bob := r.somebody("bob")
	r.do("fund", fmt.Sprintf(`{"address":%q,"amount":100000}`, bob)) // twice the price of now
	r.do("price", `{"k":3}`)
	var fee struct{ FeeRate json.Number }
	if r.ask(&fee, "estimatesmartfee", "2") != 0 || fee.FeeRate != "0.00015000" {
		t.Fatalf("the price is %s", fee.FeeRate)
	}
	r.do("mine", `{"n":2}`)
	if r.paid(bob) != 0 {
		t.Fatal("a cheap payment landed")
	}
	r.do("price", `{"k":1}`)
	r.do("mine", `{}`)
	if r.paid(bob) != 0.001 {
		t.Fatal("it did not land")
	}
}

func TestAChainThatIsKeptGoesOn(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		folder := t.TempDir()
		r := open(t, folder, `{"maturity":2}`)
		bob := r.somebody("bob")
		r.do("fund", fmt.Sprintf(`{"address":%q,"amount":100000}`, bob))
		r.do("mine", `{"n":3}`)
		was := r.do("reorg", `{"depth":1}`)
		r.do("fund", fmt.Sprintf(`{"address":%q,"amount":200000}`, bob)) // it waits
		if killed {
			// What is on disk now is all that a killed program leaves.
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			folder = copied
		} else if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = open(t, folder, `{"maturity":2}`)
		if now := r.do("head", ""); now["hash"] != was["hash"] || r.paid(bob) != 0.001 {
			t.Fatalf("killed %t: it was at %v and is at %v", killed, was, now)
		}
		r.do("mine", `{}`)
		if got := r.paid(bob); (got == 0.003) == killed {
			t.Fatalf("killed %t: bob has %v", killed, got)
		}
	}
}
