package signer_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ferry/internal/signer"
)

// TestHarden: the test runs itself again as the process that is hardened, because what
// it loses it never gets back.
func TestHarden(t *testing.T) {
	t.Parallel()
	if os.Getenv("FERRY_TEST_HARDEN") != "" {
		if err := signer.Harden(); err != nil {
			t.Fatal(err)
		}
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		var core unix.Rlimit
		if lerr := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil || lerr != nil {
			t.Fatal(err, lerr)
		}
		fmt.Printf("dumpable %d, core %d %d\n", dumpable, core.Cur, core.Max)
		return
	}
	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHarden$", "-test.v")
	self.Env = append(os.Environ(), "FERRY_TEST_HARDEN=1")
	out, err := self.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "dumpable 0, core 0 0") {
		t.Fatalf("%s %v", out, err)
	}
}
