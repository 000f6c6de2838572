//go:build !race

package amm_test

import (
	"os"
	"strconv"
)

// sweep is how many random cases a sweep compares: each run has others. FERRY_TEST_SWAPS
// asks for more.
var sweep = func() int {
	if n, err := strconv.Atoi(os.Getenv("FERRY_TEST_SWAPS")); err == nil {
		return n
	}
	return 10_000
}()
