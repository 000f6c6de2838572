package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/money"
)

// quoteGoal is what a quote may cost beside reading and writing its JSON.
const quoteGoal = 1.6

// quoteBody asks for a price of the development network.
const quoteBody = `{"fromChainId":"bitcoin","fromToken":"native","toChainId":"ethereum","toToken":"0x5fbdb2315678afecb367f032d93f642f64180aa3","amount":"1000000","side":"from","rateMode":"%s","toAddress":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"}`

// exampleQuote is an answer as large as a real one.
var exampleQuote = func() wire.Quote {
	at := wire.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	amount := wire.Amount{Amount: money.FromUint64(896_120_000)}
	sum := wire.Sum{
		ChainID: "ethereum", Token: "0x5fbdb2315678afecb367f032d93f642f64180aa3", Symbol: "USDC", Decimals: 6,
		Amount: amount, AmountDecimal: "896.12", AmountUSD: wire.USD(896 * money.Dollar),
	}
	half := wire.Percent(money.Whole / 200)
	return wire.Quote{
		QuoteID: "quo_" + strings.Repeat("A", 500), Kind: "swap", Side: "from", RateMode: "float", FundingMode: "deposit_address",
		From: sum, To: sum, MinToAmount: amount, MaxFromAmount: amount, SlippagePercent: &half, Rate: "89612.05123",
		Limits:           wire.RouteLimits{MinFromAmount: amount, MaxFromAmount: amount},
		Fees:             []wire.Fee{{Kind: "network", AmountUSD: wire.USD(money.Dollar)}, {Kind: "service", AmountUSD: wire.USD(money.Dollar)}, {Kind: "integrator", AmountUSD: wire.USD(money.Dollar)}},
		IntegratorFee:    &wire.IntegratorFee{Percent: half, AmountUSD: wire.USD(money.Dollar), PayoutAddress: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"},
		EstimatedSeconds: 6, RequiredConfirmations: 2, DepositTolerance: wire.DepositTolerance{UnderPercent: half, OverPercent: half, UnderAction: "requote", OverAction: "process_all"},
		CreatedAt: at, ExpiresAt: at, ValidForSeconds: 60, Warnings: []wire.Warning{}, Signature: "ed25519:" + strings.Repeat("A", 88), AsOf: at,
	}
}()

// askedQuotes are requests for quotes.
func askedQuotes(key, mode string) [][]byte {
	body := fmt.Sprintf(quoteBody, mode)
	all := make([][]byte, endUsers)
	for i := range all {
		all[i] = fmt.Appendf(nil, "POST /v2/quotes HTTP/1.1\r\nHost: ferry.test\r\nUser-Agent: bench\r\nAccept: application/json\r\nX-Integrator-Key: %s\r\nX-End-User-IP: 198.51.%d.%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			key, i/250, i%250+1, len(body), body)
	}
	return all
}

// runQuote measures a quote beside its JSON alone.
func runQuote(ctx context.Context, o options) (err error) {
	door, err := ourServer(ctx, doorKind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.stop()) }()
	floor, err := ourServer(ctx, codecKind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.stop()) }()
	return o.beside("quote", "quote from the treasury, beside its JSON alone", quoteGoal, door, floor, askedQuotes(door.key, "float"))
}
