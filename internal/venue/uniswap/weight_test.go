package uniswap_test

import (
	"math"
	"testing"

	"ferry/internal/venue/uniswap"
)

// What a pool costs in a token that is worth little is a large number, and counts.
func TestWhatOnlyWeighsIsNeverLeftOut(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"},
		{0.9, "0"},
		{math.NaN(), "0"},
		{-5, "0"},
		{1, "1"},
		{1.9, "1"},
		{123456789, "123456789"},
		{1 << 53, "9007199254740992"},
		{9e18, "9000000000000000000"},
		{1 << 63, "9223372036854775808"},
		{3e20, "300000000000000000000"},
		{1 << 100, "1267650600228229401496703205376"},
		{math.Inf(1), "1606938044258990275541962092341162602522202993782792835301376"},
	} {
		if n := uniswap.Weight(c.x); n.Dec() != c.want {
			t.Errorf("%g weighs %s, want %s", c.x, n.Dec(), c.want)
		}
	}
}
