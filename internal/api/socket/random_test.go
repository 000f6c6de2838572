package socket_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gobwas/ws"

	"ferry/internal/api/socket"
	"ferry/internal/testseed"
)

// randomText is UTF-8 with letters of one to four bytes.
func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	for n := r.IntN(most + 1); b.Len() < n; {
		b.WriteRune([]rune{'a', 'ä', '水', '\U0001f6a2', rune(r.IntN(0xd800))}[r.IntN(5)])
	}
	s := b.String()
	for len(s) > most {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// randomTalk is what a peer says, in frames of any size with pings between them, and
// what it must hear.
func randomTalk(r *rand.Rand) (say []byte, hear []string) {
	for range 1 + r.IntN(20) {
		whole := randomText(r, []int{5, 200, 16 << 10}[r.IntN(3)])
		hears := "text " + whole
		op := ws.OpText
		for r.IntN(3) == 0 {
			cut := r.IntN(len(whole) + 1)
			say = append(say, said(op, false, whole[:cut])...)
			whole, op = whole[cut:], ws.OpContinuation
			if r.IntN(2) == 0 {
				ping := fmt.Sprint(r.Uint32())
				say, hear = append(say, said(ws.OpPing, true, ping)...), append(hear, "pong "+ping)
			}
		}
		say, hear = append(say, said(op, true, whole)...), append(hear, hears)
	}
	return say, hear
}

// randomCuts cuts bytes into pieces.
func randomCuts(r *rand.Rand, b []byte) (all [][]byte) {
	most := []int{1, 10, 1000, 30_000}[r.IntN(4)]
	for len(b) > 0 {
		n := min(len(b), 1+r.IntN(most))
		if most == 1 && len(b) > 2000 { // byte by byte only for the beginning of much
			n = len(b) - 2000
		}
		all, b = append(all, b[:n]), b[n:]
	}
	return all
}

func TestRandomFramesCutAnywhereArriveWholeAndInOrderSweep(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
	r := newRig(t, socket.Config{MaxQueue: 4 << 20, Writers: 2})
	var all sync.WaitGroup
	for range 8 {
		mine := rand.New(rand.NewPCG(random.Uint64(), 0))
		all.Go(func() {
			for range talks {
				p := r.dial()
				say, hear := randomTalk(mine)
				go p.say(randomCuts(mine, say)...)
				for i, want := range hear {
					if got := p.hear(); got != want {
						t.Errorf("answer %d is %.60q, want %.60q", i, got, want)
						break
					}
				}
				p.Close()
			}
		})
	}
	all.Wait()
}

// script is a connection on which bytes come piece by piece and nothing is heard.
type script struct {
	net.Conn
	mu     sync.Mutex
	pieces [][]byte
}

func (s *script) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

func (s *script) Write(p []byte) (int, error)      { return len(p), nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

func (s *script) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pieces = nil
	return nil
}

// keeper keeps what it is told.
type keeper struct {
	texts []string
	code  chan int
}

func (*keeper) Opened(*socket.Conn)                             {}
func (k *keeper) Message(_ *socket.Conn, text []byte)           { k.texts = append(k.texts, string(text)) }
func (*keeper) Farewell(*socket.Conn, int) (m []socket.Message) { return m }
func (k *keeper) Closed(_ *socket.Conn, code int)               { k.code <- code }

// heard is what a handler is told of bytes that come in pieces, and how it ends.
func heard(t *testing.T, pieces [][]byte) ([]string, int) {
	t.Helper()
	k := &keeper{code: make(chan int, 2)}
	var log bytes.Buffer
	s := socket.New(socket.Config{MaxMessage: 300, FramesPerMinute: 1 << 30, Log: slog.New(slog.NewTextHandler(&log, nil))}, k)
	for i := range pieces {
		pieces[i] = bytes.Clone(pieces[i])
	}
	s.Accept(&script{pieces: pieces}, nil, nil)
	code := <-k.code
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Close(ctx, socket.Restart, ""); err != nil {
		t.Fatal(err)
	}
	if len(k.code) > 0 || log.Len() > 0 {
		t.Errorf("closed twice, or there was a panic: %s", log.String())
	}
	return k.texts, code
}

// FuzzFrames: whatever comes, texts are valid and bounded, the end is a code that there
// is, and it does not matter in which pieces it came.
func FuzzFrames(f *testing.F) {
	for _, d := range append(goodFrames(), badFrames()...) {
		if all := bytes.Join(d.say, nil); len(all) < 1000 {
			f.Add(all, uint8(3))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		whole, code := heard(t, [][]byte{b})
		for _, text := range whole {
			if !utf8.ValidString(text) || len(text) > 300 {
				t.Errorf("the handler is told %q", text)
			}
		}
		if code != socket.NoCode && code != socket.Lost && (code < 1000 || code > 4999) {
			t.Errorf("closed with %d", code)
		}
		pieces := slices.Collect(slices.Chunk(b, 1+int(step)))
		texts, again := heard(t, pieces)
		if !slices.Equal(whole, texts) || code != again {
			t.Errorf("in pieces of %d: %q and %d, whole: %q and %d", 1+int(step), texts, again, whole, code)
		}
	})
}

func TestRandomBytesNeverPanicSweep(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
	good := append(goodFrames(), badFrames()...)
	for range garbage {
		var b []byte
		for range 1 + random.IntN(4) {
			d := good[random.IntN(len(good))]
			b = append(b, d.say[random.IntN(len(d.say))]...)
		}
		for range random.IntN(4) {
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		}
		whole, code := heard(t, [][]byte{b})
		texts, again := heard(t, randomCuts(random, b))
		if !slices.Equal(whole, texts) || code != again {
			t.Fatalf("%x: %q and %d, in pieces: %q and %d", b, whole, code, texts, again)
		}
	}
}
