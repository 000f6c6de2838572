package socket_test

import (
	"strings"
	"testing"

	"github.com/gobwas/ws"

	"ferry/internal/api/socket"
)

func many(b []byte, n int) [][]byte {
	var all [][]byte
	for range n {
		all = append(all, b)
	}
	return all
}

func each(b []byte) (all [][]byte) {
	for i := range b {
		all = append(all, b[i:i+1])
	}
	return all
}

// bent is a frame with other bits in its first byte.
func bent(b []byte, set byte) []byte {
	b = append([]byte(nil), b...)
	b[0] |= set
	return b
}

func cont(payload string, fin bool) []byte { return said(ws.OpContinuation, fin, payload) }

func start(payload string) []byte { return said(ws.OpText, false, payload) }

// dialogue is what a peer says and what it must hear.
type dialogue struct {
	name string
	say  [][]byte
	hear []string
}

func frames(all ...[]byte) [][]byte { return all }

func goodFrames() []dialogue {
	long, most := strings.Repeat("*", 1<<10), strings.Repeat("*", 16<<10)
	all := []dialogue{
		{"a text of the largest size", frames(text(most)), []string{"text " + most}},
		{"a text byte by byte", each(text("hällo")), []string{"text hällo"}},
		{"two texts at once", frames(append(text("a"), text("b")...)), []string{"text a", "text b"}},
		{"a ping", frames(said(ws.OpPing, true, "")), []string{"pong "}},
		{"a ping with something", frames(said(ws.OpPing, true, "x\xff")), []string{"pong x\xff"}},
		{"a ping of 125 bytes", frames(said(ws.OpPing, true, long[:125])), []string{"pong " + long[:125]}},
		{"a ping byte by byte", each(said(ws.OpPing, true, "abc")), []string{"pong abc"}},
		{"a pong nobody asked for", frames(said(ws.OpPong, true, "x"), text("a")), []string{"text a"}},
		{"two fragments", frames(start("ab"), cont("cd", true)), []string{"text abcd"}},
		{"empty fragments", frames(start(""), cont("", false), cont("", true)), []string{"text "}},
		{"a letter across fragments", frames(start("\xc3"), cont("\xa4", true)), []string{"text ä"}},
		{"a ping between fragments", frames(start("ab"), said(ws.OpPing, true, "x"), cont("cd", true)), []string{"pong x", "text abcd"}},
		{"two fragmented texts", frames(start("a"), cont("b", true), start("c"), cont("d", true)), []string{"text ab", "text cd"}},
		{"fragments byte by byte", each(append(start("ab"), cont("cd", true)...)), []string{"text abcd"}},
		{"fragments up to the largest size", append(frames(start("")), append(many(cont(long, false), 16), cont("", true))...), []string{"text " + most}},
		{"a text that needs all of UTF-8", frames(text("κόσμε \U0010ffff \ufffd")), []string{"text κόσμε \U0010ffff \ufffd"}},
		{"goodbye without a code", frames(said(ws.OpClose, true, "")), []string{"close", "end"}},
		{"goodbye twice", frames(said(ws.OpClose, true, closeBody(1000, "")), said(ws.OpClose, true, closeBody(1001, ""))), []string{"close 1000"}},
		{"goodbye and then more", frames(said(ws.OpClose, true, closeBody(1000, "")), text("more")), []string{"close 1000"}},
		{"goodbye between fragments", frames(start("a"), said(ws.OpClose, true, closeBody(1000, ""))), []string{"close 1000", "end"}},
		{"goodbye with the longest reason", frames(said(ws.OpClose, true, closeBody(1000, long[:123]))), []string{"close 1000", "end"}},
		{"a text and goodbye at once", frames(append(text("a"), said(ws.OpClose, true, closeBody(1000, ""))...)), []string{"text a", "close 1000", "end"}},
	}
	for _, n := range []int{0, 1, 125, 126, 127, 128} {
		all = append(all, dialogue{"a text of some length", frames(text(long[:n])), []string{"text " + long[:n]}})
	}
	for _, code := range []int{1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999} {
		all = append(all, dialogue{"a good close code", frames(said(ws.OpClose, true, closeBody(code, "bye"))), []string{"close " + itoa(code), "end"}})
	}
	return all
}

func badFrames() []dialogue {
	long := strings.Repeat("*", 16<<10)
	all := []dialogue{
		{"a frame that is too large", frames(text(long + "*")), []string{"close 1009", "end"}},
		{"a frame that says it is huge", frames([]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4}), []string{"close 1009", "end"}},
		{"a frame whose length is below zero", frames([]byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4}), []string{"close 1002", "end"}},
		{"fragments that are too large together", frames(start(long), cont("", false), cont("x", true)), []string{"close 1009", "end"}},
		{"endless fragments", append(frames(start("")), many(cont(long[:1000], false), 50)...), []string{"close 1009", "end"}},
		{"an unmasked frame", frames(ws.MustCompileFrame(ws.NewTextFrame([]byte("a")))), []string{"close 1002", "end"}},
		{"an unmasked ping", frames(ws.MustCompileFrame(ws.NewPingFrame(nil))), []string{"close 1002", "end"}},
		{"a compressed frame", frames(bent(text("a"), 0x40)), []string{"close 1002", "end"}},
		{"the second reserved bit", frames(bent(text("a"), 0x20)), []string{"close 1002", "end"}},
		{"the third reserved bit of a ping", frames(bent(said(ws.OpPing, true, ""), 0x10)), []string{"close 1002", "end"}},
		{"what was good and a reserved bit", frames(text("a"), bent(text("b"), 0x70)), []string{"text a", "close 1002", "end"}},
		{"binary data", frames(said(ws.OpBinary, true, "a")), []string{"close 1003", "end"}},
		{"binary fragments", frames(said(ws.OpBinary, false, "a")), []string{"close 1003", "end"}},
		{"a ping of 126 bytes", frames(said(ws.OpPing, true, long[:126])), []string{"close 1002", "end"}},
		{"a fragmented ping", frames(said(ws.OpPing, false, "a")), []string{"close 1002", "end"}},
		{"a fragmented goodbye", frames(said(ws.OpClose, false, closeBody(1000, ""))), []string{"close 1002", "end"}},
		{"a long goodbye", frames(said(ws.OpClose, true, closeBody(1000, long[:124]))), []string{"close 1002", "end"}},
		{"going on with nothing", frames(cont("a", true)), []string{"close 1002", "end"}},
		{"going on after the end", frames(start("a"), cont("b", true), cont("c", true)), []string{"text ab", "close 1002", "end"}},
		{"a text within a text", frames(start("a"), text("b")), []string{"close 1002", "end"}},
		{"fragmented garbage", frames(start("\xff"), cont("\xfe\x80", true)), []string{"close 1007", "end"}},
		{"a text that is not UTF-8", frames(text("a\xc0\xaf")), []string{"close 1007", "end"}},
		{"half a letter", frames(text("a\xc3")), []string{"close 1007", "end"}},
		{"a surrogate", frames(text("\xed\xa0\x80")), []string{"close 1007", "end"}},
		{"half a close code", frames(said(ws.OpClose, true, "\x03")), []string{"close 1002", "end"}},
		{"a reason that is not UTF-8", frames(said(ws.OpClose, true, closeBody(1000, "\xff"))), []string{"close 1002", "end"}},
		{"a reason of a late code that is not UTF-8", frames(said(ws.OpClose, true, closeBody(1012, "\xff"))), []string{"close 1002", "end"}},
		{"a request of HTTP", frames([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")), []string{"close 1002", "end"}},
	}
	for op := range 16 {
		if ws.OpCode(op).IsReserved() {
			all = append(all, dialogue{"a reserved opcode", frames(said(ws.OpCode(op), true, "")), []string{"close 1002", "end"}})
		}
	}
	for _, code := range []int{0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535} {
		all = append(all, dialogue{"a bad close code", frames(said(ws.OpClose, true, closeBody(code, ""))), []string{"close 1002", "end"}})
	}
	return all
}

// TestEveryFrameIsAnsweredAsTheProtocolSays also asks somebody else after each, who must
// not have felt anything.
func TestEveryFrameIsAnsweredAsTheProtocolSays(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{})
	other := r.dial()
	for _, d := range append(goodFrames(), badFrames()...) {
		t.Run(d.name, func(t *testing.T) {
			p := r.dial()
			p.TB = t
			p.say(d.say...)
			p.expect(d.hear...)
			p.Close()
			other.lives()
		})
	}
	if n := r.server.Len(); n > len(goodFrames())+len(badFrames()) {
		t.Errorf("%d connections", n)
	}
}

// TestWhatCameWithTheRequestIsReadFirst: what a peer sent with its request comes first.
func TestWhatCameWithTheRequestIsReadFirst(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("*", 10_000)
	all := append(append(text(long), text(long)...), text("last")...)
	for _, cut := range []int{0, 1, 7, 10_008, 20_000, len(all)} {
		r := newRig(t, socket.Config{})
		ours, theirs := pipe(t)
		p := &peer{t, theirs}
		r.server.Accept(ours, all[:cut], nil)
		p.say(all[cut:])
		p.expect("text "+long, "text "+long, "text last")
		theirs.Close()
	}
}
