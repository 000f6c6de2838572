package main

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAnAnswerIsWholeWhenItsLengthIsThere(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 3\r\nDate: x\r\n\r\n"
	for _, c := range []struct {
		text  string
		whole bool
		bad   string
	}{
		{"HTTP/1.1 200 OK\r\nConte", false, ""},
		{head, false, ""},
		{head + "ab", false, ""},
		{head + "abc", true, ""},
		{strings.ToLower(head[17:]), false, "answered"},
		{"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", true, ""},
		{"HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n", false, "429"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, "without its length"},
	} {
		whole, err := wholeAnswer([]byte(c.text))
		if whole != c.whole || (err == nil) != (c.bad == "") || err != nil && !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%q is whole: %t, %v", c.text, whole, err)
		}
	}
}

func TestALoaderAsksInTurnsAndRefusesBadAnswers(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 1<<20)
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.URL.Path
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = w.Write(sameAnswer)
	})}
	go func() { _ = s.Serve(listener) }()
	defer func() { _ = s.Shutdown(context.WithoutCancel(t.Context())) }()
	request := func(path string) []byte { return []byte("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n") }
	l, err := openLoader("test", listener.Addr().String(), 3, [][]byte{request("/a"), request("/b")})
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.apart(50 * time.Millisecond)
	if err != nil || got.done < 6 || got.middle <= 0 || got.took < 50*time.Millisecond {
		t.Errorf("%+v, %v", got, err)
	}
	counts := map[string]int{}
	for range got.done {
		counts[<-seen]++
	}
	if len(seen) != 0 || counts["/a"]-counts["/b"] > 1 || counts["/b"] > counts["/a"] {
		t.Errorf("asked %v of %d", counts, got.done)
	}
	l.requests = [][]byte{request("/bad")}
	if _, err := l.apart(time.Millisecond); err == nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("a bad answer gives %v", err)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}
