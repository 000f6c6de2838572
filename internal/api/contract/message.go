package contract

import "slices"

// Message is one that is said on the live socket.
type Message struct {
	Name, Title, Summary string
	FromClient           bool
	Channel              string   // that it belongs to; empty for the connection's own
	Also                 []string // further channels on which it is told
	Payload              any      // a zero wire value: the schema is read off it
	Replies              []string // names of the messages that may answer it
}

// channels are those on which it is said; none for the connection's own.
func (m *Message) channels() []string {
	if m.Channel == "" {
		return nil
	}
	return append([]string{m.Channel}, m.Also...)
}

// of reports whether a message is said on a channel.
func (m *Message) of(channel string) bool {
	return m.Channel == channel || slices.Contains(m.Also, channel)
}

// Channel is what a client may follow on the live socket.
type Channel struct {
	Name, Summary string
	Access        string // who may
	ServerKey     bool   // it is refused without one
	Durable       bool   // its numbers are, so that a client can go on from one
}

// Close is a code with which the server ends connections.
type Close struct {
	Code       int
	Name, What string // what happened, and what a client does then
}

// Limit is a bound of the live socket.
type Limit struct {
	Name  string
	Value int
	What  string
}

// Live is everything that can be said of the live socket.
type Live struct {
	Path, Protocol string
	Channels       []Channel
	Messages       []Message
	Closes         []Close
	Limits         []Limit
}
