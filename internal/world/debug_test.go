package world

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"ferry/internal/order"
)

func TestDebug(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("WSEED"), 10, 64)
	n, _ := strconv.Atoi(os.Getenv("WORDERS"))
	inspect = func(w *world) {
		for _, c := range w.clients {
			o, err := w.h.DB.Order(w.ctx, c.id)
			if err != nil || open(o) == "" {
				continue
			}
			fmt.Printf("%+v\n\n", o)
			evs, _ := w.h.DB.OrderEvents(w.ctx, c.id, 0)
			for _, e := range evs {
				fmt.Printf("   %+v\n", e)
			}
		}
		for _, net := range w.h.Nets {
			jobs, _ := w.h.DB.Live(w.ctx, net.ID(), order.HotWallet)
			for _, j := range jobs {
				fmt.Printf("JOB %+v\n", j)
				for _, k := range j.Attempts {
					st, err := net.Chain().Fate(w.ctx, k.Attempt)
					fmt.Printf("   fate %+v %v\n", st, err)
				}
			}
			why, _ := w.h.DB.Halted(w.ctx, net.ID())
			fmt.Println(net.ID(), "halted:", why, "tip", net.Height())
		}
		work, _ := w.h.DB.TakeWork(w.ctx, w.now.Add(1e15), 1, 100)
		for _, x := range work {
			fmt.Printf("WORK %+v\n", x)
		}
	}
	r, err := Run(t.Context(), Config{World: seed, Orders: n, Calm: os.Getenv("WCALM") != ""})
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Print(os.Stderr)
}
