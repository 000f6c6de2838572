package order

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

//go:generate go test -run TestStatesDocIsCurrent -update-states

var updateStates = flag.Bool("update-states", false, "write docs/states.md anew")

const statesDoc = "../../docs/states.md"

// edge is one thing that Apply was seen to do.
type edge struct {
	from  State
	event string
	to    State
}

// edges runs a fixed set of sequences through Apply and collects what happened,
// with the effects that each kind of turn had.
func edges(t *testing.T) map[edge]map[string]bool {
	found := map[edge]map[string]bool{}
	for seed := range uint64(14_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		o, now := newOrder(t, r).Now, start
		if seed%4 == 3 {
			o = newBridge(t, r).Now
		}
		for range 40 {
			now = now.Add(time.Duration(r.IntN(20)) * time.Minute)
			if c, err := o.Apply(RequoteOffered{Hold: o.Hold.Since}, now); err == nil { // it leads nowhere else
				note(found, c)
			}
			ev := randomEvent(r, o, now)
			if o.Bridge != nil {
				ev = randomBridgeEvent(r, o, now)
			}
			c, err := o.Apply(ev, now)
			if err != nil {
				continue
			}
			note(found, c)
			o = c.Now
		}
	}
	return found
}

func note(found map[edge]map[string]bool, c Change) {
	e := edge{c.From, c.Event.Name(), c.Now.State}
	if found[e] == nil {
		found[e] = map[string]bool{}
	}
	for _, eff := range c.Effects {
		found[e][effectText(eff)] = true
	}
}

func effectText(e Effect) string {
	switch e := e.(type) {
	case Wish:
		return "wish " + string(e.For)
	case Price:
		return "price " + string(e.For)
	}
	return strings.ReplaceAll(e.Name(), "_", " ")
}

func drawStates(found map[edge]map[string]bool) string {
	rank := map[State]int{}
	for i, s := range States() {
		rank[s] = i
	}
	list := make([]edge, 0, len(found))
	for e := range found {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b edge) int {
		if a.from != b.from {
			return rank[a.from] - rank[b.from]
		}
		if a.to != b.to {
			return rank[a.to] - rank[b.to]
		}
		return strings.Compare(a.event, b.event)
	})
	var b strings.Builder
	b.WriteString("# The states of an order\n\nGenerated from `order.Apply` by `go generate ./internal/order`; do not edit.\n\n```mermaid\nstateDiagram-v2\n  [*] --> awaiting_deposit\n")
	for i := 0; i < len(list); {
		e, names := list[i], []string{}
		for ; i < len(list) && list[i].from == e.from && list[i].to == e.to; i++ {
			names = append(names, list[i].event)
		}
		if e.from != e.to {
			fmt.Fprintf(&b, "  %s --> %s: %s\n", e.from, e.to, strings.Join(names, "<br/>"))
		}
	}
	for _, s := range States() {
		if s.Finished() {
			fmt.Fprintf(&b, "  %s --> [*]\n", s)
		}
	}
	b.WriteString("```\n\nEvery turn that `Apply` takes. An event that is not listed for a state is refused with an error that names both.\n\n| in | event | to | effects it may have |\n|---|---|---|---|\n")
	for _, e := range list {
		var effects []string
		for eff := range found[e] {
			effects = append(effects, eff)
		}
		slices.Sort(effects)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", e.from, e.event, e.to, strings.Join(effects, ", "))
	}
	return b.String()
}

func TestStatesDocIsCurrent(t *testing.T) {
	want := drawStates(edges(t))
	if *updateStates {
		if err := os.WriteFile(statesDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(statesDoc)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/states.md is not what Apply does: run go generate ./internal/order")
	}
}

func TestNoTurnLeavesAnEnding(t *testing.T) {
	for e := range edges(t) {
		if e.from.Finished() && e.to != e.from {
			t.Errorf("%s leads from %s to %s", e.event, e.from, e.to)
		}
	}
}
