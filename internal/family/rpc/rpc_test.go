package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// fake is a node whose answer to a body is what its function says.
func fake(t *testing.T, say func(body string) (status int, answer string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller went away
		}
		status, answer := say(string(body))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// always is a node that says one thing.
func always(t *testing.T, answer string) string {
	return fake(t, func(string) (int, string) { return http.StatusOK, answer })
}

func pool(t *testing.T, c rpc.Config) *rpc.Pool {
	t.Helper()
	if c.Need == 0 {
		c.Need = 1
	}
	p, err := rpc.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEachNodeAnswersForItself(t *testing.T) {
	t.Parallel()
	p := pool(t, rpc.Config{URLs: []string{
		always(t, `{"jsonrpc":"2.0","id":0,"result":7}`),
		always(t, `{"jsonrpc":"2.0","id":0,"error":{"code":-5,"message":"no such thing"}}`),
		always(t, `{"jsonrpc":"2.0","id":0,"result":8}`),
	}, Need: 3})
	answers := rpc.All[int](t.Context(), p, "number")
	if answers[0].Value != 7 || answers[0].Err != nil || answers[2].Value != 8 {
		t.Fatalf("got %v", answers)
	}
	var said *rpc.Error
	if !errors.As(answers[1].Err, &said) || said.Code != -5 {
		t.Fatalf("got %v", answers[1].Err)
	}
	if _, err := quorum.Agree(p.Rule(), answers, func(a, b int) bool { return a == b }); !errors.Is(err, quorum.ErrUnknown) {
		t.Fatalf("got %v", err)
	}
}

func TestWhatIsNoAnswerIsSilence(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(string) (int, string){
		"no JSON":          func(string) (int, string) { return 200, "<html>" },
		"nothing":          func(string) (int, string) { return 200, "" },
		"another number":   func(string) (int, string) { return 200, `{"id":4,"result":1}` },
		"no number":        func(string) (int, string) { return 200, `{"result":1}` },
		"another form":     func(string) (int, string) { return 200, `{"id":0,"result":"seven"}` },
		"a refusal":        func(string) (int, string) { return 403, "forbidden" },
		"a redirect":       func(string) (int, string) { return 302, "" },
		"too much":         func(string) (int, string) { return 200, `{"id":0,"result":"` + strings.Repeat("x", 2000) + `"}` },
		"a list for one":   func(string) (int, string) { return 200, `[{"id":0,"result":1}]` },
		"too many at once": func(string) (int, string) { return 429, `{"message":"slow down"}` },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pool(t, rpc.Config{URLs: []string{fake(t, say)}, MaxBody: 1000})
			if a := rpc.All[int](t.Context(), p, "number"); !errors.Is(a[0].Err, rpc.ErrSilent) {
				t.Fatalf("got %v, %v", a[0].Value, a[0].Err)
			}
		})
	}
}

func TestABatchIsMatchedByNumberAndNotByPlace(t *testing.T) {
	t.Parallel()
	url := fake(t, func(body string) (int, string) {
		var asked []struct {
			ID     int    `json:"id"`
			Params []int  `json:"params"`
			Method string `json:"method"`
		}
		if err := json.Unmarshal([]byte(body), &asked); err != nil {
			return 400, err.Error()
		}
		var parts []string
		for i := len(asked) - 1; i >= 0; i-- { // in another order
			parts = append(parts, fmt.Sprintf(`{"id":%d,"result":%d}`, asked[i].ID, 10*asked[i].Params[0]))
		}
		return 200, "[" + strings.Join(parts, ",") + "]"
	})
	p := pool(t, rpc.Config{URLs: []string{url}})
	got := make([]int, 5)
	var all []rpc.Query
	for i := range got {
		all = append(all, rpc.Query{Method: "ten", Params: []any{i + 1}, Out: &got[i]})
	}
	if err := p.Nodes()[0].Batch(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for i, n := range got {
		if n != 10*(i+1) {
			t.Fatalf("got %v", got)
		}
	}
}

func TestABatchThatLeavesOutOrRepeatsIsSilence(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`[{"id":0,"result":1}]`,
		`[{"id":0,"result":1},{"id":0,"result":1}]`,
		`{"id":0,"result":1}`,
	} {
		p := pool(t, rpc.Config{URLs: []string{always(t, answer)}})
		var a, b int
		err := p.Nodes()[0].Batch(t.Context(), []rpc.Query{{Method: "x", Out: &a}, {Method: "y", Out: &b}})
		if !errors.Is(err, rpc.ErrSilent) {
			t.Errorf("%s: got %v", answer, err)
		}
	}
}

func TestANodeThatFailsRestsAndComesBackOnlyAfterItsCheck(t *testing.T) {
	t.Parallel()
	var broken, asked, checked atomic.Int64
	url := fake(t, func(string) (int, string) {
		asked.Add(1)
		if broken.Load() == 1 {
			return 500, "oops"
		}
		return 200, `{"id":0,"result":1}`
	})
	p := pool(t, rpc.Config{URLs: []string{url}, Check: func(context.Context, *rpc.Node) error {
		checked.Add(1)
		return nil
	}})
	ask := func() error { return p.Nodes()[0].Call(t.Context(), nil, "x") }
	if err := ask(); err != nil || checked.Load() != 1 {
		t.Fatalf("got %v after %d checks", err, checked.Load())
	}
	broken.Store(1)
	for range 3 {
		if err := ask(); !errors.Is(err, rpc.ErrSilent) {
			t.Fatalf("got %v", err)
		}
	}
	before := asked.Load()
	if err := ask(); !errors.Is(err, rpc.ErrResting) || asked.Load() != before {
		t.Fatalf("it was not left alone: %v", err)
	}
	broken.Store(0)
	deadline := time.Now().Add(20 * time.Second)
	for errors.Is(ask(), rpc.ErrResting) {
		if time.Now().After(deadline) {
			t.Fatal("it never came back")
		}
		time.Sleep(20 * time.Millisecond) // it is its rest that is waited for
	}
	if err := ask(); err != nil || checked.Load() != 2 {
		t.Fatalf("got %v after %d checks", err, checked.Load())
	}
}

func TestANodeOfAnotherChainIsNeverBelieved(t *testing.T) {
	t.Parallel()
	check := func(ctx context.Context, n *rpc.Node) error {
		var id int
		if err := n.Call(ctx, &id, "chain"); err != nil {
			return err
		}
		if id != 1 {
			return rpc.ErrWrongChain
		}
		return nil
	}
	chain := func(id int) string {
		return fake(t, func(body string) (int, string) {
			if strings.Contains(body, `"chain"`) {
				return 200, fmt.Sprintf(`{"id":0,"result":%d}`, id)
			}
			return 200, `{"id":0,"result":5}`
		})
	}
	p := pool(t, rpc.Config{URLs: []string{chain(1), chain(2), chain(1)}, Need: 2, Check: check})
	var crowd sync.WaitGroup
	for range 16 { // also not by those who come while it is being checked
		crowd.Go(func() {
			if err := p.Nodes()[1].Call(t.Context(), nil, "number"); !errors.Is(err, rpc.ErrWrongChain) {
				t.Errorf("got %v", err)
			}
		})
	}
	crowd.Wait()
	answers := rpc.All[int](t.Context(), p, "number")
	if !errors.Is(answers[1].Err, rpc.ErrWrongChain) || answers[0].Value != 5 || answers[2].Value != 5 {
		t.Fatalf("got %v", answers)
	}
}

func TestSlowNodesAreNotWaitedForWhenEnoughHaveAnswered(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	slow := fake(t, func(string) (int, string) {
		<-held
		return 200, `{"id":0,"result":1}`
	})
	t.Cleanup(func() { close(held) })
	quick := always(t, `{"id":0,"result":1}`)
	p := pool(t, rpc.Config{URLs: []string{quick, slow, quick}, Need: 2, Grace: time.Millisecond})
	answers := rpc.All[int](t.Context(), p, "x")
	if !errors.Is(answers[1].Err, rpc.ErrSlow) || answers[0].Err != nil || answers[2].Err != nil {
		t.Fatalf("got %v", answers)
	}
	// The caller's own hurry is not held against a node: it is asked again.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		_ = p.Nodes()[0].Call(ctx, nil, "x")
	}
	if err := p.Nodes()[0].Call(t.Context(), nil, "x"); err != nil {
		t.Fatal(err)
	}
}

func TestNoErrorTellsWhereANodeIs(t *testing.T) {
	t.Parallel()
	const canary = "s3cr3t-canary"
	for _, url := range []string{"http://user:" + canary + "@127.0.0.1:1/" + canary + "?key=" + canary, "http://" + canary + ".invalid/"} {
		p := pool(t, rpc.Config{URLs: []string{url}})
		err := p.Nodes()[0].Call(t.Context(), nil, "x")
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), canary) {
			t.Errorf("got %v", err)
		}
	}
	for _, url := range []string{"ftp://" + canary, canary, "http://%zz" + canary} {
		if _, err := rpc.New(rpc.Config{URLs: []string{url}, Need: 1}); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

func TestTheRuleNeverShrinks(t *testing.T) {
	t.Parallel()
	for _, c := range []rpc.Config{{}, {URLs: []string{"http://a"}, Need: 2}, {URLs: []string{"http://a"}, Need: 0}} {
		if _, err := rpc.New(c); err == nil {
			t.Errorf("%d nodes with %d to agree were taken", len(c.URLs), c.Need)
		}
	}
	p := pool(t, rpc.Config{URLs: []string{"http://127.0.0.1:1", "http://127.0.0.1:1", always(t, `{"id":0,"result":1}`)}, Need: 2})
	for range 5 {
		if _, err := quorum.Agree(p.Rule(), rpc.All[int](t.Context(), p, "x"), func(a, b int) bool { return a == b }); !errors.Is(err, quorum.ErrUnknown) {
			t.Fatalf("got %v", err)
		}
	}
}

// TestAnswersThatSayAThingTwiceSayNothing: nobody knows which of the two is meant.
func TestAnswersThatSayAThingTwiceSayNothing(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"id":0,"result":"a","result":"b"}`:       "",
		`{"id":0,"result":{"x":1,"x":2}}`:          "",
		`{"id":0,"result":"a","error":null}`:       "a",
		`{"id":0,"result":"a\"b\u0041"}`:           `a"bA`,
		`{"jsonrpc":"2.0","id":0,"result":"long"}`: "long",
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		t.Cleanup(srv.Close)
		p, err := rpc.New(rpc.Config{URLs: []string{srv.URL}, Need: 1})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		err = p.Nodes()[0].Call(t.Context(), &got, "m")
		if got != want || errors.Is(err, rpc.ErrSilent) != (want == "") {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
}
