package dev

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/devnet/uniswap"
	"ferry/internal/family/evm"
	"ferry/internal/prices"
)

// pit is a pool on a chain that stands still since a year, and what it says of its past.
type pit struct {
	zero, one common.Address
	past      error
}

func (p pit) Head(context.Context) (chain.Head, error) {
	return chain.Head{Tip: chain.Block{Height: 7, Time: time.Now().AddDate(-1, 0, 0)}}, nil
}

func (p pit) ViewAt(_ context.Context, to chain.Address, data []byte, _ chain.Block) ([]byte, error) {
	token := func(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }
	number := func(n int64) []byte { return common.LeftPadBytes(big.NewInt(n).Bytes(), 32) }
	switch fmt.Sprintf("%x", data[:4]) {
	case "0dfe1681":
		return token(p.zero), nil
	case "d21220a7":
		return token(p.one), nil
	case "313ce567":
		if to.Text() == lower(p.one) {
			return number(6), nil
		}
		return number(18), nil
	}
	return nil, p.past
}

// A pool that is too young to have a mean is no trouble, whatever time passed since the
// chain made a block; one that can not be read is.
func TestAYoungPoolIsNoTrouble(t *testing.T) {
	t.Parallel()
	down := errors.New("the node is down")
	for name, c := range map[string]struct {
		past error
		why  bool
	}{
		"too young": {fmt.Errorf("view: %w", &evm.Revert{Data: []byte("OLD")}), true},
		"not read":  {down, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			coin, dollar := common.HexToAddress("0x01"), common.HexToAddress("0x02")
			l := &local{net: &Network{sources: make([]prices.Source, 2)}, state: state{
				Tokens:    map[chain.ID]ref{Ethereum: ref(lower(dollar))},
				Exchanges: map[chain.ID]Exchange{Ethereum: {Places: uniswap.Places{WETH: coin}, Pool: lower(common.HexToAddress("0x03"))}},
			}}
			if err := l.mean(pit{coin, dollar, c.past}); err != nil {
				t.Fatal(err)
			}
			if len(l.net.sources) != 3 || l.net.guards["ETH"].Quorum != 2 {
				t.Fatalf("there are %d sources, and %+v must agree", len(l.net.sources), l.net.guards)
			}
			said, err := l.net.sources[2].Prices(t.Context(), time.Now())
			switch {
			case c.why && (err != nil || said["ETH"].Why == "" || said["ETH"].Price != ""):
				t.Errorf("it says %+v, %v", said, err)
			case !c.why && !errors.Is(err, down):
				t.Errorf("it says %+v, and that this is wrong: %v", said, err)
			}
		})
	}
}
