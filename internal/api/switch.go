package api

import (
	"errors"
	"net"
	"net/http"
	"time"
)

// Switch is the answer of a row that goes on in another protocol. The caller is told
// 101 with the headers that the row has set, and then the connection is the row's.
type Switch struct {
	// Take gets the connection and what was read of it beyond the request. It must not
	// wait, it closes the connection when it is done, and it keeps nothing of the call
	// but what it copied. A door that stops does not end connections that were taken.
	Take func(conn net.Conn, early []byte)
}

// switchTimeout is how long the answer to a request for another protocol may take to
// be sent, which nobody waits for.
const switchTimeout = 5 * time.Second

var errNoSwitch = errors.New("this connection cannot be taken over, or the row does not say that it will be")

// switches reports whether the connection of this request can go on in another
// protocol: HTTP before 1.1 has no such thing, nor has any method but GET here.
func (c *Call) switches() bool { return c.asked.method == http.MethodGet && c.writer.switches() }

// switchOver answers 101 and hands the connection over.
func (c *Call) switchOver(v *Switch) error {
	if !c.switches() || c.op.Status != http.StatusSwitchingProtocols {
		return errNoSwitch
	}
	c.out.Del("Content-Type")
	head := []byte("HTTP/1.1 101 Switching Protocols\r\n")
	for _, f := range c.out.all {
		head = append(append(append(append(head, f.name...), ": "...), f.value...), "\r\n"...)
	}
	head = append(head, "\r\n"...)
	if err := c.writer.handOver(head, v.Take); err != nil {
		return err
	}
	c.log.status = http.StatusSwitchingProtocols
	return nil
}

// handOver sends the answer and gives the connection away; early reads what the server
// has read of it already. One that broke meanwhile is given to nobody.
func handOver(conn net.Conn, head []byte, early func() []byte, take func(net.Conn, []byte)) {
	if err := send(conn, head); err != nil {
		_ = conn.Close()
		return
	}
	rest := early()
	if conn.SetDeadline(time.Time{}) != nil {
		_ = conn.Close()
		return
	}
	if c, ok := conn.(*caller); ok {
		conn = c.Conn // what it adds is for answers of HTTP
	}
	take(conn, rest)
}

func send(conn net.Conn, head []byte) error {
	if err := conn.SetDeadline(time.Now().Add(switchTimeout)); err != nil {
		return err
	}
	_, err := conn.Write(head)
	return err
}

// buffered is what can be read of a connection without waiting for its peer: it has a
// deadline that is over, so that only what is in the reader's memory comes.
func buffered(conn net.Conn) []byte {
	if conn.SetReadDeadline(time.Unix(1, 0)) != nil {
		return nil
	}
	var all []byte
	for part := make([]byte, maxHeaderBytes+lineBytes); ; {
		n, err := conn.Read(part)
		all = append(all, part[:n]...)
		if err != nil {
			return all
		}
	}
}
