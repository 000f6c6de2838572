package wire_test

import (
	"encoding/csv"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/market"
	"ferry/internal/money"
)

// A cell comes back as it was, except that a formula is a text with a quote before it.
func TestCellsAreQuotedAndFormulasAreDefused(t *testing.T) {
	t.Parallel()
	at := wire.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)}
	for _, c := range []struct{ reference, want string }{
		{"invoice-1842", "invoice-1842"},
		{"", ""},
		{`say "hi", then go`, `say "hi", then go`},
		{"two\nlines", "two\nlines"},
		{" spaced ", " spaced "},
		{"=1+1", "'=1+1"},
		{"+49 30", "'+49 30"},
		{"-5", "'-5"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"\t=1", "'\t=1"},
		{"a=1", "a=1"},
		{`=cmd|' /C calc'!"A1"`, `'=cmd|' /C calc'!"A1"`},
	} {
		list := wire.AttributedOrders{Orders: []wire.AttributedOrder{{
			OrderID: "ord_1", Status: "completed", FeeStatus: "paid", ClientReference: &c.reference, CreatedAt: at, UpdatedAt: at, ExpiresAt: at,
			IntegratorFee: &wire.IntegratorFee{Percent: 5_000, AmountUSD: 490_000, PayoutAddress: "bc1q"},
			From:          wire.Side{Symbol: "BTC", Amount: wire.Amount{Amount: money.FromUint64(7)}, AmountUSD: wire.USD(money.Dollar)},
		}}}
		text := string(list.CSV())
		if !strings.HasSuffix(text, "\r\n") || strings.Count(text, "\r\n") != 2 {
			t.Errorf("%q: lines do not end as RFC 4180 wants: %q", c.reference, text)
		}
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) != 2 || len(rows[0]) != len(rows[1]) {
			t.Fatalf("%q: %v in %q", c.reference, err, text)
		}
		got := map[string]string{}
		for i, name := range rows[0] {
			got[name] = rows[1][i]
		}
		for name, want := range map[string]string{
			"clientReference": c.want, "orderId": "ord_1", "integratorFeePercent": "0.5", "integratorFeeAmountUsd": "0.49",
			"integratorFeePayoutAddress": "bc1q", "fromAmount": "7", "fromAmountUsd": "1", "createdAt": "2026-01-02T03:04:05.006Z",
			"completedAt": "", "feePayoutTxHash": "",
		} {
			if value, there := got[name]; !there || value != want {
				t.Errorf("%q: %s is %q, want %q", c.reference, name, value, want)
			}
		}
	}
	if empty := string((wire.AttributedOrders{}).CSV()); strings.Count(empty, "\r\n") != 1 || !strings.HasPrefix(empty, "orderId,") {
		t.Errorf("an empty list is %q", empty)
	}
}

// Monitors know assets by one word, so no word is of two assets.
func TestMonitorsAreToldNothingAmbiguous(t *testing.T) {
	t.Parallel()
	chains := []desk.Chain{
		{ID: "bip122:a", Slug: "bitcoin", Name: "B", Family: chain.Bitcoin, Confirmations: 1},
		{ID: "eip155:1", Slug: "ethereum", Name: "E", Family: chain.EVM, Confirmations: 1},
		{ID: "eip155:2", Slug: "base", Name: "Base", Family: chain.EVM, Confirmations: 1},
	}
	token := func(id chain.ID, ref, symbol string) market.Asset {
		return market.Asset{Asset: chain.Asset{Chain: id, Ref: ref}, Symbol: symbol, Decimals: 8}
	}
	coins := []market.Asset{
		token("bip122:a", "", "BTC"), token("eip155:1", "", "ETH"), token("eip155:2", "", "ETH"), token("eip155:1", "0x1", "USDC"),
		token("eip155:2", "0x2", "usdc"), token("eip155:2", "0x3", "TWIN"), token("eip155:2", "0x4", "TW-IN"), token("eip155:1", "0x5", "<€>"),
	}
	atlas, err := desk.NewAtlas(chains, coins)
	if err != nil {
		t.Fatal(err)
	}
	var all []market.Indication
	for _, x := range coins {
		all = append(all, market.Indication{Give: coins[0], Get: x, Rate: "2.5", Min: money.FromUint64(1000), Max: money.FromUint64(100_000_000), Most: money.FromUint64(250_000_000)})
	}
	text, err := wire.MonitorXML(all, atlas)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Items []struct {
			From string `xml:"from"`
			To   string `xml:"to"`
		} `xml:"item"`
	}
	if err := xml.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range read.Items {
		got = append(got, i.From+">"+i.To)
	}
	const want = "BTC>BTC BTC>ETHETHEREUM BTC>ETHBASE BTC>USDCETHEREUM BTC>USDCBASE"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
	const item = "<item><from>BTC</from><to>BTC</to><in>1</in><out>2.5</out><amount>2.5</amount><minamount>0.00001</minamount><maxamount>1</maxamount></item>"
	if !strings.HasPrefix(string(text), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rates>"+item) {
		t.Errorf("got %s", text)
	}
}
