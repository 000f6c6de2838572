package contract

// Message is one that is said on the live socket.
type Message struct {
	Name, Title, Summary string
	FromClient           bool
	Channel              string   // that it belongs to; empty for the connection's own
	Payload              any      // a zero wire value: the schema is read off it
	Replies              []string // names of the messages that may answer it
}

// Channel is what a client may follow on the live socket.
type Channel struct {
	Name, Summary string
	Access        string // who may
	Durable       bool   // its numbers are, so that a client can go on from one
}
