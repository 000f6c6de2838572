package testseed

import (
	"math/rand/v2"
	"os"
	"strconv"
)

// name is the variable that gives a seed back.
const name = "FERRY_TEST_SEED"

// T is what a seed needs of a test, a benchmark or a fuzz target.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Of is the seed of a test: what FERRY_TEST_SEED says, or a new one. It is logged as
// it is written before a command that runs the test again.
func Of(t T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(name); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", name, err)
			return 0
		}
	}
	t.Logf("%s=%d", name, seed)
	return seed
}

// Rand is a source of the test's seed. A test that needs several makes them of Of.
func Rand(t T) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Of(t), 0))
}
