package storetest

import (
	"errors"
	"slices"
	"testing"

	"ferry/internal/store"
)

// Open opens a fresh, empty database that is closed when the test ends.
type Open func(*testing.T) *store.DB

// kase is one case of the suite: a sentence and what it does.
type kase struct {
	name string
	test func(*testing.T, *bench)
}

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, c := range slices.Concat(treasuryCases, publicCases, hookCases, bridgeCases, []kase{
		{"an order is read back as it was made", orderRoundTrip},
		{"create refuses a taken id and a taken address", createTaken},
		{"create refuses what the wallet has not", createShort},
		{"create refuses a chain that is halted or not watched", createClosed},
		{"create refuses to pay to a deposit address", createOurs},
		{"create asks for each order of a batch", createMixed},
		{"a fact is applied once", moveKnown},
		{"a refusal changes nothing", moveRefused},
		{"a move that does not follow is refused", moveCrooked},
		{"a panic in a decision stays with its caller", movePanic},
		{"an order goes all the way with its books", moveAllTheWay},
		{"an order is refunded with its books", moveRefund},
		{"many goroutines move one order", moveOneOrder},
		{"many goroutines move many orders", moveManyOrders},
		{"racing creates never reserve more than there is", racingCreates},
		{"racing creates of one address make one order", racingAddresses},
		{"the feed is whole and wakes", feedWhole},
		{"every integrator has a log of its own", logs},
		{"racing writers leave no gap in a log", logsRace},
		{"work is leased, put off and done", workLease},
		{"work wished again is new work", workAgain},
		{"due orders are leased", dueOrders},
		{"an order is due when its own time comes", dueMoves},
		{"open orders have ceilings", openCeilings},
		{"no ceiling is overshot", openRace},
		{"what is sold of a pair is bounded", flows},
		{"no bound of a pair is overshot", flowRace},
		{"a request makes one order", requests},
		{"orders of a session", sessionOrders},
		{"tallies are kept beside the facts", tallies},
		{"orders of an integrator", attributed},
		{"orders of an integrator by their last change", updated},
		{"the cursor moves only from where it is", cursorStale},
		{"payments are as deep as their blocks", depthsFollow},
		{"a deposit is seen, mined, ripe and told", depositStages},
		{"a mempool forgets", glimpseDrops},
		{"a rewind takes deposits back", rewindSeen},
		{"a rewind that takes a final deposit halts the chain", rewindFinalDeposit},
		{"a rewind behind a final height halts the chain", rewindFinalHeight},
		{"a rewind that takes a landed transfer halts the chain", rewindLanded},
		{"what a block shows counts, not what the mempool showed", minedCounts},
		{"addresses come in commit order", addressesSince},
		{"a wish is made once", wishOnce},
		{"a cap holds for an hour", wishCapped},
		{"an attempt is kept only if no other can land beside it", keepRules},
		{"a slot belongs to one transfer for ever", slotsForEver},
		{"a transfer ends once and leaves work", endOnce},
		{"a transfer is found by its name with all its attempts", oneTransfer},
		{"a vigil is kept and ends", vigil},
		{"a halted chain stays halted until it is resumed", halts},
		{"operators see what waits for them", operators},
		{"an integrator is read back as it was made and changed", integratorRoundTrip},
		{"a change made for another version is refused", integratorStale},
		{"integrators are listed in the order of their ids", integratorsListed},
		{"a key is kept by its digest and revoked once", keyLife},
		{"a key's use is written down and never goes back", keysTouched},
		{"what changed after a version is never missed", changesFollow},
		{"racing changes of the register get numbers of their own", changesRace},
		{"operators' log follows every change and holds together", logFollows},
		{"a halt is lifted once and written down", haltLifted},
		{"what changes nothing in the store is written down in a row", entered},
		{"a cancelled caller leaves the queue", cancelled},
		{"a closed database says so", closed},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, newBench(t, open(t)))
		})
	}
}

// want fails unless err is the wanted one.
func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got %v, want %v", err, target)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
