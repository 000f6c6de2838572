// Command contractclient is a stranger's program: it knows the generated client and
// nothing else of Ferry. That it compiles is half of the test; the other half is that
// it works.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"contractclient/client"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, api, key string) error {
	with := func(name, value string) client.RequestEditorFn {
		return func(_ context.Context, r *http.Request) error {
			r.Header.Set(name, value)
			return nil
		}
	}
	ferry, err := client.NewClientWithResponses(api, client.WithRequestEditorFn(with("X-Integrator-Key", key)))
	if err != nil {
		return err
	}
	made, err := order(ctx, ferry)
	if err != nil {
		return err
	}
	session := with("X-Session-ID", *made.SessionId)
	read := func() (*client.Order, error) {
		answer, err := ferry.GetOrderWithResponse(ctx, made.OrderId, nil, session)
		if err != nil {
			return nil, err
		}
		if answer.JSON200 == nil {
			return nil, fmt.Errorf("read: %s %s", answer.Status(), answer.Body)
		}
		return answer.JSON200, nil
	}
	now, err := read()
	if err != nil {
		return err
	}
	if now.Status != client.OrderStatusAwaitingDeposit || now.SessionId != nil {
		return fmt.Errorf("the new order is %s", now.Status)
	}
	if err := stranger(ctx, ferry, made.OrderId, with("X-Session-ID", "wrong")); err != nil {
		return err
	}
	// Whoever runs this pays the order now, and says so with a line.
	fmt.Println(made.OrderId)
	if !bufio.NewScanner(os.Stdin).Scan() {
		return errors.New("nobody paid")
	}
	for deadline := time.Now().Add(time.Minute); !now.Terminal && time.Now().Before(deadline); {
		time.Sleep(500 * time.Millisecond)
		if now, err = read(); err != nil {
			return err
		}
	}
	if now.Status != client.OrderStatusCompleted || len(now.Payouts) == 0 {
		return fmt.Errorf("the order is %s", now.Status)
	}
	fmt.Println(now.Status, now.To.AmountDecimal, now.To.Symbol)
	return nil
}

// order asks for a price and makes an order of it.
func order(ctx context.Context, ferry *client.ClientWithResponses) (*client.Order, error) {
	quote, err := ferry.CreateQuoteWithResponse(ctx, client.CreateQuoteJSONRequestBody{
		FromChainId: "solana", FromToken: "native", ToChainId: "ethereum", ToToken: "native", Amount: "10000000000",
	})
	if err != nil {
		return nil, err
	}
	if quote.JSON200 == nil {
		return nil, fmt.Errorf("quote: %s %s", quote.Status(), quote.Body)
	}
	reference := "go"
	made, err := ferry.CreateOrderWithResponse(ctx, nil, client.CreateOrderJSONRequestBody{
		QuoteId: &quote.JSON200.QuoteId, ToAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ClientReference: &reference,
	})
	if err != nil {
		return nil, err
	}
	if made.JSON201 == nil || made.JSON201.SessionId == nil {
		return nil, fmt.Errorf("create: %s %s", made.Status(), made.Body)
	}
	return made.JSON201, nil
}

// stranger is refused with the code that the contract lists.
func stranger(ctx context.Context, ferry *client.ClientWithResponses, id string, wrong client.RequestEditorFn) error {
	answer, err := ferry.GetOrderWithResponse(ctx, id, nil, wrong)
	if err != nil {
		return err
	}
	if answer.ApplicationproblemJSON404 == nil || answer.ApplicationproblemJSON404.Code != "order_not_found" {
		return fmt.Errorf("a wrong session was answered with %s", answer.Status())
	}
	return nil
}
