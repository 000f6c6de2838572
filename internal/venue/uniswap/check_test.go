package uniswap_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/venue/uniswap"
)

// told is a chain of which only what is told here is known; every other question is an
// error, as is one to nobody.
type told struct {
	uniswap.Chain
	answers map[string]string // by the contract and the method
}

var (
	router = common.HexToAddress("0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45")
	coin   = common.HexToAddress("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2")
	dollar = common.HexToAddress("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48")
	making = common.HexToAddress("0x1f98431c8ad98523631ae4a59f267346ea31f984")
)

func (told) Head(context.Context) (chain.Head, error) {
	return chain.Head{Tip: chain.Block{Height: 7, Hash: "0x07", Time: time.Unix(7, 0)}}, nil
}

func (c told) ViewAt(_ context.Context, to chain.Address, data []byte, _ chain.Block) ([]byte, error) {
	text, known := c.answers[to.Text()+" "+hex.EncodeToString(data[:4])]
	if !known {
		return nil, errors.New("nobody said what " + to.Text() + " answers")
	}
	return hex.DecodeString(text)
}

func asked(to common.Address, signature string) string {
	return canonical(to).Text() + " " + hex.EncodeToString(crypto.Keccak256([]byte(signature))[:4])
}

func word(a common.Address) string { return strings.Repeat("00", 12) + hex.EncodeToString(a[:]) }

func settings() uniswap.Config {
	return uniswap.Config{
		Chain: chainID, Own: canonical(making), Router: canonical(router), Wrapped: canonical(coin), Tokens: []chain.Address{canonical(coin), canonical(dollar)},
		MaxAge: time.Hour, Poll: time.Second, Check: time.Hour, Patience: time.Hour,
	}
}

func TestARouterThatIsNotTheConfiguredOneIsFoundAtStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(answers map[string]string)
		want  error
	}{
		"as it should be":         {func(map[string]string) {}, nil},
		"no version 2":            {func(a map[string]string) { a[asked(router, "factoryV2()")] = word(common.Address{}) }, nil},
		"another coin":            {func(a map[string]string) { a[asked(router, "WETH9()")] = word(dollar) }, uniswap.ErrRouter},
		"nobody is there":         {func(a map[string]string) { a[asked(router, "WETH9()")] = "" }, uniswap.ErrRouter},
		"a router of version 3":   {func(a map[string]string) { delete(a, asked(router, "factoryV2()")) }, uniswap.ErrRouter},
		"something without pools": {func(a map[string]string) { a[asked(router, "factory()")] = "" }, uniswap.ErrRouter},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{asked(router, "WETH9()"): word(coin), asked(router, "factory()"): word(making), asked(router, "factoryV2()"): word(making)}
			c.spoil(answers)
			v := must(uniswap.New(settings(), told{answers: answers}))(t)
			if err := v.Check(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// A router without a factory of version 2, as on most rollups, has its pools of version 3.
func TestARouterWithoutVersion2HasPoolsOfVersion3(t *testing.T) {
	t.Parallel()
	for name, two := range map[string]common.Address{"no factory": {}, "one that is not there": dollar} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{
				asked(router, "factory()"): word(making), asked(router, "factoryV2()"): word(two), asked(making, "getPool(address,address,uint24)"): word(coin),
			}
			if two != (common.Address{}) {
				answers[asked(two, "getPair(address,address)")] = ""
			}
			v := must(uniswap.New(settings(), told{answers: answers}))(t)
			// What comes after the pools were found is not told here.
			if err := v.Sync(t.Context(), time.Now()); err == nil || !strings.Contains(err.Error(), "pool "+coin.Hex()) {
				t.Errorf("got %v", err)
			}
			if n := v.Pools(); n != 4 {
				t.Errorf("%d pools were found", n)
			}
			cfg := settings()
			cfg.Pools = []uniswap.Pool{{Version: 2, Zero: cfg.Tokens[0], One: cfg.Tokens[1]}}
			v = must(uniswap.New(cfg, told{answers: answers}))(t)
			if err := v.Sync(t.Context(), time.Now()); err == nil || !strings.Contains(err.Error(), "there is no pool of version 2") {
				t.Errorf("one that was named: %v", err)
			}
		})
	}
}
