// Package socket keeps the server's end of WebSocket connections (RFC 6455). It
// carries texts and knows nothing of what they say.
//
// It guarantees that sending never waits for a peer: every connection has a queue of
// bounded size, and one that does not take what it is sent is cut while all others go
// on; that texts arrive whole, in their order, and as valid UTF-8; that a handler sees
// Opened, then Message one at a time, then Closed, once and last; that a connection
// with nothing to say holds no buffer and no timer; and that nobody makes it hold more
// than a message of Config.MaxMessage and a queue of Config.MaxQueue.
//
// It must never compress, never write into a text, never log a text or an address, and
// never call a handler while it holds a lock. Peers wake it, and one goroutine that
// looks after all connections: who is silent, who is slow, who is to be pinged.
package socket
