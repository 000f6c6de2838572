package socket_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"ferry/internal/api/socket"
)

// TestPeersThatReadNothingHoldLittleMemory is not parallel: it looks at the memory of
// the whole process.
func TestPeersThatReadNothingHoldLittleMemory(t *testing.T) {
	r := newRig(t, socket.Config{TakeWithin: time.Second, CloseWithin: 100 * time.Millisecond})
	const peers, most = 100, 20 << 20
	var conns []*socket.Conn
	for range peers {
		r.dial()
		conns = append(conns, <-r.conns)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	body := []byte(strings.Repeat("x", 4<<10))
	for open := peers; open > 0; {
		open = 0
		for _, c := range conns {
			if c.Send(socket.Text(body)) {
				open++
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > most {
		t.Errorf("%d peers that read nothing hold %d bytes, more than %d", peers, held, most)
	}
	for _, code := range r.ends(t, peers) {
		if code != socket.Slow {
			t.Errorf("closed with %d", code)
		}
	}
}

// TestAnEventToManyNeedsNoMemory: what is told to ten thousand must leave nothing to
// collect, for the collector would look at ten thousand stacks.
func TestAnEventToManyNeedsNoMemory(t *testing.T) {
	const peers, events = 50, 20
	r := newRig(t, socket.Config{PingEvery: time.Hour, IdleAfter: time.Hour})
	var all []*peer
	var conns []*socket.Conn
	for range peers {
		all = append(all, r.dial())
		conns = append(conns, <-r.conns)
	}
	head, body := []byte("head "), []byte(strings.Repeat("x", 1000))
	want := len(head) + len(body) + 4
	buffer := make([]byte, want)
	tell := func() {
		for _, c := range conns {
			c.Send(socket.Message{Head: head, Body: body})
		}
		for _, p := range all {
			for n := 0; n < want; {
				m, err := p.Read(buffer[n:])
				if err != nil {
					t.Fatal(err)
				}
				n += m
			}
		}
	}
	tell()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range events {
		tell()
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > peers*events/10 {
		t.Errorf("%d events to %d peers needed %d pieces of memory", events, peers, n)
	}
}
