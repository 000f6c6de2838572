package evm_test

import (
	"testing"

	"ferry/internal/family/familytest"
)

func TestEVMIsAFamily(t *testing.T) {
	t.Parallel()
	familytest.Run(t, func(t *testing.T) familytest.Bench { return newBench(t) })
}
