package main

import (
	"bufio"
	"context"
	_ "embed" // the script
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"ferry/internal/venue/uniswap/amm"
)

//go:embed peer/v3sdk.js
var sdkCode string

// sdkPool is a swap as the script reads it.
type sdkPool struct {
	Fee       uint32    `json:"fee"`
	Spacing   int32     `json:"spacing"`
	Tick      int32     `json:"tick"`
	Root      string    `json:"root"`
	Liquidity string    `json:"liquidity"`
	Ticks     []sdkTick `json:"ticks"`
	Down      bool      `json:"down"`
	Amount    string    `json:"amount"`
	Want      string    `json:"want"`
}

type sdkTick struct {
	At    int32  `json:"at"`
	Net   string `json:"net"`
	Gross string `json:"gross"`
}

func sdkPools(asks []swapAsk) (all []sdkPool) {
	for i := range asks {
		a := &asks[i]
		p := sdkPool{
			Fee: a.pool.Fee, Spacing: a.pool.Spacing, Tick: a.pool.Tick, Root: a.pool.Root.Dec(), Liquidity: a.pool.Liquidity.Dec(),
			Down: a.Down, Amount: a.Amount.Dec(), Want: a.want.Dec(),
		}
		for _, t := range a.pool.Ticks {
			p.Ticks = append(p.Ticks, sdkTick{t.At, netText(t.Net), t.Gross.Dec()})
		}
		all = append(all, p)
	}
	return all
}

func netText(n amm.Net) string {
	high := new(big.Int).Lsh(big.NewInt(n.High), 64)
	return high.Add(high, new(big.Int).SetUint64(n.Low)).String()
}

// besideSDK measures the same swaps in Node.js, where the SDK is installed.
func besideSDK(ctx context.Context, o options, name string, asks []swapAsk) (err error) {
	cache := cacheDir()
	node, lost := exec.LookPath("node")
	if _, missing := os.Stat(filepath.Join(cache, "node_modules", "@uniswap", "v3-sdk")); lost != nil || missing != nil {
		o.report.skip("pools: beside @uniswap/v3-sdk: %v", errAbsent)
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, node, "-e", sdkCode)
	cmd.Env = append(cmd.Environ(), "CACHE="+cache)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(), cmd.Wait()) }()
	said := bufio.NewReader(out)
	text, err := json.Marshal(sdkPools(asks))
	if err != nil {
		return err
	}
	if _, err := sdkSay(in, said, string(text)); err != nil {
		return err
	}
	length := o.length / 5
	d, err := interleave("pools: beside @uniswap/v3-sdk, "+name, o.rounds, cost, [2]side{quoteSide(asks, length), func(int, int) (n int, took time.Duration, err error) {
		line, err := sdkSay(in, said, fmt.Sprint(length.Milliseconds()))
		if err == nil {
			_, err = fmt.Sscan(line, &n, (*int64)(&took))
		}
		return n, took, err
	}})
	if err == nil {
		o.report.add(result{Bench: "pools", Name: "exact in, " + name + ", beside @uniswap/v3-sdk", Unit: "µs", AtMost: sdkGoal}.judged(d))
	}
	return err
}

// sdkSay asks the script, and waits for its answer.
func sdkSay(in io.Writer, said *bufio.Reader, text string) (string, error) {
	if _, err := io.WriteString(in, text+"\n"); err != nil {
		return "", err
	}
	return said.ReadString('\n')
}
