package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// quotaEnv makes the test binary a process that races for open orders. It holds
// what the process needs to know.
const quotaEnv = "FERRY_TEST_QUOTA"

type quotaOrders struct {
	URL   string
	Seed  uint64
	Which uint64
	Early bool
}

func TestMain(m *testing.M) {
	if text := os.Getenv(quotaEnv); text != "" {
		if err := quotaWork(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// quotaWork races whenever it is told to, until its input ends: then whoever
// started it is done or gone.
func quotaWork(text string) error {
	var o quotaOrders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	db, err := Open(context.Background(), Config{URL: o.URL})
	if err != nil {
		return err
	}
	defer db.Close()
	r := newQuotaRacer(db, rand.New(rand.NewPCG(o.Seed, o.Which)), o.Early)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var a quotaAsk
		if err := in.Decode(&a); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := r.prepare(a); err != nil {
			return err
		}
		if err := out.Encode("ready"); err != nil {
			return err
		}
		var start string
		if err := in.Decode(&start); err != nil {
			return err
		}
		answer, err := r.run()
		if err != nil {
			return err
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
}

// quotaWorker is a team in a process of its own.
type quotaWorker struct {
	in  *json.Encoder
	out *json.Decoder
}

func (w *quotaWorker) prepare(a quotaAsk) error {
	if err := w.in.Encode(a); err != nil {
		return err
	}
	var ready string
	return w.out.Decode(&ready)
}

func (w *quotaWorker) run() (a quotaAnswer, err error) {
	if err := w.in.Encode("go"); err != nil {
		return a, err
	}
	err = w.out.Decode(&a)
	return a, err
}

// quotaWorkers starts the processes. They end with the test.
func quotaWorkers(t *testing.T, url string, seed uint64, early bool) (teams []quotaTeam) {
	t.Helper()
	for i := range quotaProcesses {
		text, err := json.Marshal(quotaOrders{URL: url, Seed: seed, Which: uint64(i + 1), Early: early})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), quotaEnv+"="+string(text))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
				t.Errorf("process %d: %v: %s", i, err, stderr.String())
			}
		})
		teams = append(teams, &quotaWorker{in: json.NewEncoder(in), out: json.NewDecoder(out)})
	}
	return teams
}
