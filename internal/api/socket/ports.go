package socket

// Handler is what the texts are for.
type Handler interface {
	// Opened is called before anything is read; it may set Conn.Data and send.
	Opened(c *Conn)
	// Message gets one whole text, which is good until it returns. It may take its time:
	// only this connection waits, and its peer with it.
	Message(c *Conn, text []byte)
	// Farewell gives the last texts for a connection that the server ends of its own
	// accord, before the close frame: code is Slow, Flooded or what Server.Close was
	// told. It may run beside Message and beside Send,
	// and must not wait.
	Farewell(c *Conn, code int) []Message
	// Closed is called once, after everything else, with the code that was told first,
	// by either side; Lost if nobody told one.
	Closed(c *Conn, code int)
}
