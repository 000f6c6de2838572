package tail_test

import (
	"strings"
	"testing"

	"ferry/internal/tail"
)

func TestLinesForPeople(t *testing.T) {
	t.Parallel()
	const (
		owners = `{"type":"event","seq":4,"event":"order.payout_sent","occurredAt":"2026-01-01T00:05:00.123Z","data":{"orderId":"ord_0123456789ABCDEFGHJKMNPQRS","from":"sending","to":"completed",
"order":{"from":{"symbol":"BTC","amountDecimal":"0.001","amount":"100000"},"to":{"symbol":"ETH","amountDecimal":"0.030000000000000001"},
"deposits":[{"txHash":"aa"}],"payouts":[{"kind":"delivery","txHash":"bb"},{"kind":"refund","txHash":null}],"failure":null}}}`
		integrators = `{"type":"event","seq":1842,"event":"order.fee_status_changed","occurredAt":"2026-01-01T00:05:00.123Z","data":{"orderId":"ord_0123456789ABCDEFGHJKMNPQRS","from":"completed","to":"completed",
"order":{"from":{"chainId":"bitcoin","symbol":"BTC","amount":"100000","amountUsd":"97.1"},"to":{"chainId":"moon","symbol":"ROCK","amount":"5","amountUsd":"96"},"feePayoutTxHash":"ff"}}}`
		operators = `{"type":"event","seq":12345678,"event":"order.held","occurredAt":"2026-01-01T00:05:00.123Z","integratorId":"int_0123456789ABCDEFGHJKMNPQRS","data":{"orderId":"ord_0123456789ABCDEFGHJKMNPQRS","from":"confirming","to":"held",
"order":{"from":{"symbol":"BTC","amountDecimal":"1"},"to":{"symbol":"ETH","amountDecimal":"2"},"failure":{"code":"deposit_below_minimum"}}}}`
		snapshot = `{"type":"snapshot","seq":1,"data":{"order":{"orderId":"ord_0123456789ABCDEFGHJKMNPQRS","status":"awaiting_deposit","updatedAt":"2026-01-01T00:00:00.000Z",
"from":{"symbol":"BTC","amountDecimal":"1"},"to":{"symbol":"ETH","amountDecimal":"2"}}}}`
		hostile = `{"type":"event","seq":1,"event":"order.created\u001b[2J","occurredAt":"2026-01-01T00:00:00Z","data":{"orderId":"ord_1","from":"","to":"awaiting\r\n_deposit",
"order":{"from":{"symbol":"\u009b31mBTC","amountDecimal":"1"},"to":{"symbol":"ETH","amountDecimal":"2"}}}}`
	)
	decimals := func(id, symbol string) (int, bool) { return 8, id == "bitcoin" && symbol == "BTC" }
	for _, c := range []struct {
		name string
		p    tail.Printer
		item tail.Item
		want string
	}{
		{
			"owner",
			tail.Printer{},
			tail.Item{Seq: 4, Text: []byte(owners)},
			"2026-01-01 00:05:00       #4  …JKMNPQRS  sending          → completed         order.payout_sent                0.001 BTC → 0.03000000… ETH   tx bb",
		},
		{
			"integrator",
			tail.Printer{Decimals: decimals},
			tail.Item{Seq: 1842, Text: []byte(integrators)},
			"2026-01-01 00:05:00    #1842  …JKMNPQRS                     completed         order.fee_status_changed         0.001 BTC → $96 of ROCK       tx ff",
		},
		{
			"operator",
			tail.Printer{Whose: true},
			tail.Item{Seq: 12345678, Text: []byte(operators)},
			"2026-01-01 00:05:00  #12345678  …JKMNPQRS  confirming       → held              order.held                           1 BTC → 2 ETH             …JKMNPQRS  deposit_below_minimum",
		},
		{
			"snapshot",
			tail.Printer{},
			tail.Item{Kind: tail.Snapshot, Seq: 1, Text: []byte(snapshot)},
			"2026-01-01 00:00:00       #1  …JKMNPQRS                     awaiting_deposit  (as it is)                           1 BTC → 2 ETH",
		},
		{
			"in colour",
			tail.Printer{Colour: true},
			tail.Item{Kind: tail.Snapshot, Seq: 1, Text: []byte(snapshot)},
			"2026-01-01 00:00:00       #1  …JKMNPQRS                     \x1b[90mawaiting_deposit\x1b[0m  (as it is)                           1 BTC → 2 ETH",
		},
		{
			"what would move the terminal",
			tail.Printer{},
			tail.Item{Seq: 1, Text: []byte(hostile)},
			"2026-01-01 00:00:00       #1  ord_1                         awaiting_deposit  order.created[2J                  1 31mBTC → 2 ETH",
		},
		{"JSON", tail.Printer{JSON: true}, tail.Item{Seq: 1, Text: []byte("{\"a\": [1,\n 2]}")}, `{"a":[1,2]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			c.p.Out = &b
			if err := c.p.Show(c.item); err != nil {
				t.Fatal(err)
			}
			if b.String() != c.want+"\n" {
				t.Errorf("got\n%s\nwant\n%s", b.String(), c.want)
			}
		})
	}
}

func TestWhereSecretsMayTravel(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"https://swap.example.com": true, "https://swap.example.com/api/": true, "http://127.0.0.1:8080": true, "http://localhost": true, "http://[::1]:80": true,
		"http://swap.example.com": false, "http://127.0.0.1.example.com": false, "https://key@swap.example.com": false, "https://swap.example.com?key=1": false,
		"wss://swap.example.com": false, "swap.example.com": false, "": false,
	} {
		if _, err := tail.NewSocket(url); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
}
