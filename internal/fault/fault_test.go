package fault_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"ferry/internal/fault"
)

func TestFaultSaysCodeAndText(t *testing.T) {
	t.Parallel()
	f := fault.New(fault.NotFound, "order_not_found", "No order %s.", "ord_1")
	if f.Error() != "order_not_found: No order ord_1." || f.Kind != fault.NotFound {
		t.Errorf("got %v", f)
	}
}

func TestCauseIsForTheLogOnly(t *testing.T) {
	t.Parallel()
	f := fault.New(fault.Unavailable, "venue_down", "Try again.")
	g := f.Because(io.ErrUnexpectedEOF)
	if !errors.Is(g, io.ErrUnexpectedEOF) || !strings.Contains(g.Error(), "unexpected EOF") {
		t.Errorf("the cause is lost: %v", g)
	}
	if strings.Contains(g.Text, "EOF") || g.Detail != nil {
		t.Errorf("the cause is shown: %q %v", g.Text, g.Detail)
	}
	if errors.Is(f, io.ErrUnexpectedEOF) {
		t.Error("Because changed the fault it was asked of")
	}
}

func TestAWaitIsWholeSecondsFromOne(t *testing.T) {
	t.Parallel()
	base := fault.New(fault.Unavailable, "x", "Wait.")
	for wait, want := range map[time.Duration]int{-time.Hour: 1, 0: 1, 1: 1, time.Second: 1, time.Second + 1: 2, time.Minute: 60} {
		if got := base.RetryAfter(wait).Detail["retryAfterSeconds"]; got != want {
			t.Errorf("%s: got %v, want %d", wait, got, want)
		}
	}
	if base.Detail != nil {
		t.Error("RetryAfter changed the fault it was asked of")
	}
}

func TestDetailsDoNotLeakBetweenFaults(t *testing.T) {
	t.Parallel()
	base := fault.New(fault.Exhausted, "too_many", "Wait.").With("limit", 5)
	a, b := base.With("who", "a"), base.With("who", "b")
	if a.Detail["who"] != "a" || b.Detail["who"] != "b" || a.Detail["limit"] != 5 {
		t.Errorf("got %v and %v", a.Detail, b.Detail)
	}
	if _, leaked := base.Detail["who"]; leaked {
		t.Error("With changed the fault it was asked of")
	}
}

func TestFaultsAreComparedByCode(t *testing.T) {
	t.Parallel()
	a := fault.New(fault.NotFound, "order_not_found", "one")
	same := fault.New(fault.NotFound, "order_not_found", "two").Because(io.EOF)
	other := fault.New(fault.NotFound, "quote_not_found", "one")
	wrapped := fmt.Errorf("desk: %w", same)
	plain := errors.New("order_not_found")
	if !errors.Is(wrapped, a) || errors.Is(wrapped, other) || errors.Is(plain, a) {
		t.Error("faults must be the same by code, and only by code")
	}
	if got := fault.Of(wrapped); got.Text != "two" {
		t.Errorf("got %v", got)
	}
}

func TestWhatIsNoFaultTellsNothing(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial postgres://ferry:secret@db")
	f := fault.Of(secret)
	if f.Kind != fault.Internal || f.Code != "internal_error" || strings.Contains(f.Text, "secret") || f.Detail != nil {
		t.Errorf("got %v", f)
	}
	if !errors.Is(f, secret) {
		t.Error("the cause is lost for the log")
	}
	var zero fault.Kind
	if zero != fault.Internal {
		t.Error("a fault nobody classified must not be shown")
	}
}
