package socket

import (
	"cmp"
	"log/slog"
	"runtime"
	"time"
)

// Codes with which a connection ends (RFC 6455, section 7.4, and our own from 4000).
const (
	Normal    = 1000
	Malformed = 1002 // what came is no frame, or not one that may come now
	NoText    = 1003 // binary data
	NoCode    = 1005 // the peer closed without a code; never sent
	Lost      = 1006 // the connection broke; never sent
	NotUTF8   = 1007
	TooLarge  = 1009
	Failed    = 1011 // the handler panicked
	Restart   = 1012

	Slow    = 4008 // the peer does not take what it is sent
	Idle    = 4009 // the peer is silent, or stopped in the middle of a message
	Flooded = 4029 // the peer sends too often
)

// Config is how connections are kept. A zero is the default beside it.
type Config struct {
	// MaxMessage is how large a text of a peer may be, whole: 16 KiB.
	MaxMessage int
	// MaxQueue and MaxQueued are how many bytes and how many texts may wait for a peer:
	// 256 KiB and 512. A single text may be larger.
	MaxQueue, MaxQueued int
	// SendBuffer is what the system may hold for a peer beyond the queue: 64 KiB.
	SendBuffer int
	// FramesPerMinute is how many frames of any kind a peer may send, the answers to our
	// pings among them: 120, which may come at once.
	FramesPerMinute int
	// PingEvery is how often a peer is asked for a sign of life (20 s), IdleAfter how long
	// it may give none (45 s).
	PingEvery, IdleAfter time.Duration
	// MessageWithin is how long a message that has begun may take to arrive (10 s), and
	// TakeWithin how long a peer may take nothing of what is ready for it (10 s).
	MessageWithin, TakeWithin time.Duration
	// CloseWithin is how long a closing connection may take to end: 2 s.
	CloseWithin time.Duration
	// Writers is how many goroutines write: as many as there are processors.
	Writers int
	// Now is the clock: time.Now.
	Now func() time.Time
	// Log hears of panics; nil is nobody.
	Log *slog.Logger
}

// Filled is the configuration with the defaults where it is zero.
func (c Config) Filled() Config {
	c.MaxMessage = cmp.Or(c.MaxMessage, 16<<10)
	c.MaxQueue = cmp.Or(c.MaxQueue, 256<<10)
	c.MaxQueued = cmp.Or(c.MaxQueued, 512)
	c.SendBuffer = cmp.Or(c.SendBuffer, 64<<10)
	c.FramesPerMinute = cmp.Or(c.FramesPerMinute, 120)
	c.PingEvery = cmp.Or(c.PingEvery, 20*time.Second)
	c.IdleAfter = cmp.Or(c.IdleAfter, 45*time.Second)
	c.MessageWithin = cmp.Or(c.MessageWithin, 10*time.Second)
	c.TakeWithin = cmp.Or(c.TakeWithin, 10*time.Second)
	c.CloseWithin = cmp.Or(c.CloseWithin, 2*time.Second)
	c.Writers = cmp.Or(c.Writers, runtime.GOMAXPROCS(0))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
