package socket

import (
	"sync"

	"github.com/gobwas/ws"
)

// Message is one text for a peer: Head and then Body, sent as one. The two are apart so
// that a text for ten thousand peers is made once, with what differs between them in
// front: Head is the peer's own, Body everybody's. Neither may be changed after it was
// sent, nor be anything but UTF-8 together.
type Message struct{ Head, Body []byte }

// Text is a message of its own.
func Text(body []byte) Message { return Message{Body: body} }

// frame is a frame on its way out.
type frame struct {
	Message
	op ws.OpCode
}

func (f *frame) size() int { return len(f.Head) + len(f.Body) }

// queue are the frames that wait for a peer. A connection has one only while some wait.
type queue struct {
	frames []frame
	bytes  int
}

// keptFrames is the longest queue whose memory is used again.
const keptFrames = 64

var queues = sync.Pool{New: func() any { return new(queue) }}

// out is bytes to be written.
type out []byte

// Write implements io.Writer.
func (o *out) Write(p []byte) (int, error) {
	*o = append(*o, p...)
	return len(p), nil
}

// add appends a frame as it is on the wire.
func (o *out) add(f *frame) {
	_ = ws.WriteHeader(o, ws.Header{Fin: true, OpCode: f.op, Length: int64(f.size())}) // out has no errors
	*o = append(append(*o, f.Head...), f.Body...)
}
