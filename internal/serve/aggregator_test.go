package serve

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/signer"
	"ferry/internal/watch"
)

func aggregating() config.Config {
	return config.Config{
		Caps: config.Caps{PerHour: money.Dollar, PerPayment: money.Dollar}, Wallet: config.Wallet{FeeShare: 1},
		Chains: []config.Chain{{ID: "eip155:1", Family: chain.EVM, Kind: config.RPC}},
		Aggregator: config.Aggregator{
			On: true, URL: "https://aggregator.example", ClientID: "ferry", PerSecond: 3, MaxOff: money.Whole / 100, Slippage: money.Whole / 200, Approve: 4,
			Patience: time.Minute,
			Chains: []config.AggregatorChain{{
				ID: "eip155:1", Slug: "ethereum", Router: "0x6131b5fae19ea4f9d964eac0408e4408b66337b5", Executors: []string{"0x63242a4ea82847b20e506b63b0e2e2eff0cc6cb0"},
				Assets: []chain.Asset{{Chain: "eip155:1"}, {Chain: "eip155:1", Ref: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}},
				Hubs:   []chain.Asset{{Chain: "eip155:1"}},
			}},
		},
	}
}

// The signer's list has the router and the approvals of it, and can be read.
func TestTheSignersListHasTheAggregator(t *testing.T) {
	t.Parallel()
	c := aggregating()
	list, err := callable(c, nobodys)
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, k := range list["eip155:1"] {
		at = append(at, k.Address.Text())
	}
	if got := strings.Join(at, " "); got != "0x6131b5fae19ea4f9d964eac0408e4408b66337b5 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48" {
		t.Errorf("on the list are %s", got)
	}
	ring, err := signer.NewRing(make([]byte, 64), KeyNets(c))
	if err != nil {
		t.Fatal(err)
	}
	p := signer.Policy{PerPayment: 1, PerHour: 1, FeeShare: 1, Contracts: list, Now: time.Now}
	if _, err := signer.New(ring, p, nil, nil); err != nil {
		t.Error(err)
	}
	c.Aggregator = config.Aggregator{}
	if list, err := callable(c, nobodys); err != nil || len(list) != 0 {
		t.Errorf("without one there are %v, %v", list, err)
	}
	c = aggregating()
	c.Aggregator.Chains[0].Executors = nil
	if _, err := callable(c, nobodys); err == nil {
		t.Error("a list without executors was made")
	}
}

// reading is a chain that can be asked about contracts.
type reading struct{ watch.Reader }

func (reading) View(context.Context, chain.Address, []byte) ([]byte, error) { return nil, nil }

func (reading) Receipt(context.Context, chain.TxID) (chain.Receipt, error) {
	return chain.Receipt{}, nil
}

func TestTheAggregatorIsAVenueWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	made := front.Chain{Own: chain.CanonicalAddress(chain.EVM, "0x00000000000000000000000000000000000f0e11"), Reader: reading{}}
	made.ID = "eip155:1"
	var v front.Venues
	if err := outside(&v, aggregating(), []front.Chain{made}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if v.Outside["eip155:1"] == nil || v.OutsideOff != money.Whole/100 || len(v.Hubs["eip155:1"]) != 1 {
		t.Errorf("got %+v", v)
	}
	v = front.Venues{}
	if err := outside(&v, config.Config{}, nil, nil); err != nil || v.Outside != nil {
		t.Errorf("without one there is %+v, %v", v, err)
	}
	made.Reader = nil
	if err := outside(&v, aggregating(), []front.Chain{made}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a chain that cannot be asked was taken")
	}
}
