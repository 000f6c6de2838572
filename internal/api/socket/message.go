package socket

import (
	"encoding/binary"
	"math"
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

// queue are the frames that wait for a peer. Mostly that is one, which needs no memory
// of its own: ten thousand that are told of an event leave nothing to collect.
type queue struct {
	first  frame
	more   *[]frame // those after it; nil is none
	frames int
	bytes  int
}

// keptFrames is the longest queue whose memory is used again.
const keptFrames = 128

var spare = sync.Pool{New: func() any { return new([]frame) }}

func (q *queue) add(f frame) {
	if q.frames == 0 {
		q.first = f
	} else {
		if q.more == nil {
			q.more = spare.Get().(*[]frame)
		}
		*q.more = append(*q.more, f)
	}
	q.frames++
	q.bytes += f.size()
}

// take moves frames to the end of the bytes to be written, at least one and no more
// after so many bytes. It reports whether the close frame is among them, behind which
// nothing comes.
func (q *queue) take(to *out, most int) (last bool) {
	if q.frames == 0 {
		return false
	}
	to.add(&q.first)
	q.bytes -= q.first.size()
	last = q.first.op == ws.OpClose
	n := 1
	for ; n < q.frames && !last && len(*to) < most; n++ {
		f := &(*q.more)[n-1]
		to.add(f)
		q.bytes -= f.size()
		last = f.op == ws.OpClose
	}
	if n == q.frames || last {
		q.clear()
		return last
	}
	q.first = (*q.more)[n-1]
	left := copy(*q.more, (*q.more)[n:])
	clear((*q.more)[left:])
	*q.more = (*q.more)[:left]
	q.frames -= n
	return false
}

// clear forgets everything.
func (q *queue) clear() {
	if more := q.more; more != nil && cap(*more) <= keptFrames {
		clear(*more)
		*more = (*more)[:0]
		spare.Put(more)
	}
	*q = queue{}
}

// out is bytes to be written.
type out []byte

// add appends a frame as it is on the wire. The library would need memory for each.
func (o *out) add(f *frame) {
	const final = 0x80
	size := f.size()
	b := append(*o, final|byte(f.op))
	switch {
	case size < 126:
		b = append(b, byte(size))
	case size <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(size))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(size))
	}
	*o = append(append(b, f.Head...), f.Body...)
}
