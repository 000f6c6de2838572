package archtest

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestEveryRoomKeepsToThePlan(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, why := range append(brokenPlan(p), brokenFiles(p)...) {
			t.Error(why)
		}
	}
}

func TestPlanIsWhole(t *testing.T) {
	t.Parallel()
	for _, m := range []map[string]string{plan, inTests} {
		for room, allowed := range m {
			if _, ok := plan[room]; !ok {
				t.Errorf("inTests names %s, which is not on the plan", room)
			}
			for _, other := range strings.Fields(allowed) {
				if _, ok := plan[other]; !ok {
					t.Errorf("%s may import %s, which is not on the plan", room, other)
				}
				if other == room {
					t.Errorf("%s names itself", room)
				}
			}
		}
	}
}

func TestPlanHasNoCircle(t *testing.T) {
	t.Parallel()
	const open, done = 1, 2
	seen := map[string]int{}
	var visit func(room string, path []string)
	visit = func(room string, path []string) {
		if seen[room] == open {
			t.Errorf("circle in the plan: %s", strings.Join(append(path, room), " → "))
		}
		if seen[room] != 0 {
			return
		}
		seen[room] = open
		for _, other := range strings.Fields(plan[room]) {
			visit(other, append(path, room))
		}
		seen[room] = done
	}
	for room := range plan {
		visit(room, nil)
	}
}

func TestAdaptersDoNotKnowOneAnother(t *testing.T) {
	t.Parallel()
	const adapters = "store family venue prices signer api"
	for room, allowed := range plan {
		if !covers(adapters, room) {
			continue
		}
		own, _, _ := strings.Cut(room, "/")
		for _, other := range strings.Fields(allowed) {
			if covers(adapters, other) && !covers(own, other) {
				t.Errorf("the plan lets adapter %s import adapter %s: give both a port instead", room, other)
			}
		}
	}
}

func TestViolationsAreSeen(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		p    listed
		want string
	}{
		"a room that is not on the plan": {
			listed{ImportPath: "ferry/internal/util"}, "not on the plan",
		},
		"a domain room that reaches up": {
			listed{ImportPath: "ferry/internal/order", Imports: []string{"ferry/internal/store"}}, "order imports store",
		},
		"a working room that reaches for an adapter": {
			listed{ImportPath: "ferry/internal/settle", Imports: []string{"ferry/internal/family/sim"}}, "settle imports family/sim",
		},
		"an adapter that knows another": {
			listed{ImportPath: "ferry/internal/family/sim", Imports: []string{"ferry/internal/store"}}, "family/sim imports store",
		},
		"HTTP in a working room": {
			listed{ImportPath: "ferry/internal/watch", Imports: []string{"net/http"}}, "net/http",
		},
		"SQL outside the store": {
			listed{ImportPath: "ferry/internal/settle", Imports: []string{"database/sql"}}, "database/sql",
		},
		"a driver outside the store": {
			listed{ImportPath: "ferry/internal/daemon", Imports: []string{"github.com/jackc/pgx/v5/stdlib"}}, "pgx",
		},
		"a test that reaches up": {
			listed{ImportPath: "ferry/internal/money", XTestImports: []string{"ferry/internal/order"}}, "in its tests order",
		},
		"a seed of tests in a room": {
			listed{ImportPath: "ferry/internal/world", Imports: []string{"ferry/internal/testseed"}}, "world imports testseed",
		},
	}
	for name, c := range cases {
		got := strings.Join(brokenPlan(c.p), "\n")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want it to name %q", name, got, c.want)
		}
	}
	sound := listed{
		ImportPath: "ferry/internal/store", Imports: []string{"database/sql", "ferry/internal/order"},
		TestImports: []string{"ferry/internal/store/storetest", "ferry/internal/testseed"},
	}
	if bad := brokenPlan(sound); len(bad) != 0 {
		t.Errorf("a sound package was refused: %v", bad)
	}
}

func TestForbiddenCallsAreSeen(t *testing.T) {
	t.Parallel()
	const src = `package x
import (
	clock "time"
	"os"
)
var now = clock.Now
var home = os.Getenv("HOME")
`
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := func(room string) string { return strings.Join(brokenCalls(room, "x.go", f), "\n") }
	if !strings.Contains(got("order"), "time.Now") {
		t.Error("a clock behind another name was not seen in order")
	}
	if strings.Contains(got("send"), "time.Now") {
		t.Error("floor 2 may read the clock")
	}
	if !strings.Contains(got("send"), "os.Getenv") {
		t.Error("the environment was read in send and nobody said so")
	}
	if strings.Contains(got("config"), "os.Getenv") {
		t.Error("config may read the environment")
	}
}
