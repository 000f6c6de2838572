package main

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/serve"
	"ferry/internal/treasury"
)

func audited(unexplained int64) serve.Audited {
	return serve.Audited{
		Findings: []treasury.Finding{{
			Chain: "eip155:1", At: chain.Block{Height: 7, Hash: "0xab"},
			Lines: []treasury.Line{{
				Where: treasury.AtHome, Asset: chain.ID("eip155:1").Native(), Books: big.NewInt(10), Chain: big.NewInt(8 + unexplained),
				Reasons: []treasury.Reason{{What: "the cost of ord_1/payout", Amount: big.NewInt(-2)}}, Unexplained: big.NewInt(unexplained),
			}},
		}},
		Left: []serve.Left{{Chain: "sim:x", Why: "it is simulated", Simulated: true}},
	}
}

func TestAnAuditIsShownWithItsReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unexplained int64
		want        []string
		sound       bool
	}{
		{0, []string{"eip155:1 at height 7", "hot       eip155:1/native  books 10, chain 8\n", "-2  the cost of ord_1/payout", "sim:x was not compared"}, true},
		{-3, []string{"books 10, chain 5, UNEXPLAINED -3"}, false},
		{4, []string{"books 10, chain 12, UNEXPLAINED +4"}, false},
	} {
		a := audited(c.unexplained)
		var text, machine strings.Builder
		if err := errors.Join(showAudit(&text, a, false), showAudit(&machine, a, true)); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q is not in\n%s", want, text.String())
			}
		}
		var v struct {
			Sound  bool
			Chains []struct {
				Accounts []struct{ Books, Chain, Unexplained string }
			}
		}
		if err := json.Unmarshal([]byte(machine.String()), &v); err != nil {
			t.Fatalf("%v in %s", err, machine.String())
		}
		if got := v.Chains[0].Accounts[0]; v.Sound != c.sound || got.Books != "10" || got.Unexplained != big.NewInt(c.unexplained).String() {
			t.Errorf("%+v", v)
		}
		if (a.Unsound() == nil) != c.sound {
			t.Errorf("with %d unexplained: %v", c.unexplained, a.Unsound())
		}
	}
	lost := serve.Audited{Left: []serve.Left{{Chain: "eip155:1", Why: "no node answers"}}}
	if err := lost.Unsound(); err == nil || !strings.Contains(err.Error(), "no node answers") {
		t.Errorf("a chain that could not be compared counts as sound: %v", err)
	}
	if err := (serve.Audited{Books: errors.New("they do not add up")}).Unsound(); err == nil {
		t.Error("books that do not add up count as sound")
	}
}
