package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gobwas/ws"
)

// listeners are the connections of a crowd and the one by which it tells the server to
// publish.
type listeners struct {
	kind  string
	tells int
	fds   []int
	place map[int32]int
	poll  int
	each  int // bytes of an event, the same for all
	have  []int
	waits []time.Duration
	room  []byte
}

// errLost: an event did not come to everybody.
var errLost = errors.New("the others wait in vain")

// raiseFiles lets this process have as many files open as it may.
func raiseFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}

func connectAll(kind, address string, many int) (*listeners, error) {
	if err := raiseFiles(); err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	l := &listeners{kind: kind, place: map[int32]int{}, room: make([]byte, 256<<10), have: make([]int, many)}
	if l.poll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	for i := range many {
		fd, err := dialFrom(i, at)
		if err == nil {
			err = l.greet(fd)
		}
		if err == nil {
			err = syscall.SetNonblock(fd, true)
		}
		if err == nil {
			err = syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
		}
		if err != nil {
			return nil, fmt.Errorf("connection %d: %w", i, err)
		}
		l.fds = append(l.fds, fd)
		l.place[int32(fd)] = i
	}
	if l.tells, err = dialFrom(0, at); err != nil {
		return nil, err
	}
	if kind == natsKind {
		return l, l.exchange(l.tells, "", "INFO ", "CONNECT {\"verbose\":false}\r\nPING\r\n", "PONG\r\n")
	}
	return l, nil
}

func (l *listeners) close() {
	for _, fd := range append(l.fds, l.tells, l.poll) {
		_ = syscall.Close(fd)
	}
}

// dialFrom connects from one of some addresses, as one alone has not ports enough.
func dialFrom(i int, to netip.AddrPort) (int, error) {
	const noPort = 24 // IP_BIND_ADDRESS_NO_PORT: the port is chosen when it is known whereto
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err := syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, noPort, 1); err != nil {
		return 0, err
	}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 10}); err != nil {
		return 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, byte(2 + i%4)}}); err != nil {
		return 0, err
	}
	return fd, syscall.Connect(fd, &syscall.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())})
}

// greet has a connection hear events from now on.
func (l *listeners) greet(fd int) error {
	upgrade := func(path string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: ferry.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	}
	switch l.kind {
	case natsKind:
		return l.exchange(fd, "", "INFO ", "CONNECT {\"verbose\":false}\r\nSUB event 1\r\nPING\r\n", "PONG\r\n")
	case socketioKind:
		join := string(ws.MustCompileFrame(ws.MaskFrame(ws.NewTextFrame([]byte("40")))))
		return l.exchange(fd, upgrade("/socket.io/?EIO=4&transport=websocket"), "0{\"sid\"", join, "40{\"sid\"")
	}
	if l.kind == socketKind {
		return l.exchange(fd, upgrade(hearPath), firstWords)
	}
	return l.exchange(fd, upgrade(hearPath), "\r\n\r\n")
}

// exchange says and hears in turns. Each answer comes whole.
func (l *listeners) exchange(fd int, turns ...string) error {
	for i := 0; i < len(turns); i += 2 {
		if turns[i] != "" {
			if _, err := syscall.Write(fd, []byte(turns[i])); err != nil {
				return err
			}
		}
		var got []byte
		for !bytes.Contains(got, []byte(turns[i+1])) {
			n, err := syscall.Read(fd, l.room)
			if err == syscall.EINTR { //nolint:errorlint // it is the number itself
				continue
			}
			if err != nil || n <= 0 {
				return fmt.Errorf("after %q: %d bytes, %w", got, n, err)
			}
			got = append(got, l.room[:n]...)
		}
	}
	return nil
}

// publish has the server tell everybody.
func (l *listeners) publish(events int) error {
	ask := fmt.Sprintf("GET %s?n=%d HTTP/1.1\r\nHost: ferry.test\r\n\r\n", tellPath, events)
	if l.kind == natsKind {
		ask = strings.Repeat(fmt.Sprintf("PUB event %d\r\n%s%s\r\n", len(eventHead)+len(eventBody), eventHead, eventBody), events)
	}
	for rest := []byte(ask); len(rest) > 0; {
		n, err := syscall.Write(l.tells, rest)
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// obey publishes and hears for a while.
func (l *listeners) obey(o task) (h heard, err error) {
	if l.each == 0 {
		if l.each, err = l.measure(); err != nil {
			return h, err
		}
	}
	for began := time.Now(); h.Events == 0 || time.Since(began) < o.Length; h.Events += o.Events {
		start := time.Now()
		if err := l.publish(o.Events); err != nil {
			return h, err
		}
		if err := l.hearAll(start, o.Events*l.each); err != nil {
			return h, err
		}
		slices.Sort(l.waits)
		h.Late = append(h.Late, l.waits[len(l.waits)*99/100])
	}
	return h, nil
}

// measure is how many bytes one event is on the wire.
func (l *listeners) measure() (int, error) {
	if l.kind == natsKind {
		l.quiet()
	}
	if err := l.publish(1); err != nil {
		return 0, err
	}
	want, until := 0, time.Now().Add(patience)
	for i, fd := range l.fds {
		if i == 0 {
			time.Sleep(time.Second) // so that it has come whole to the first, which says how long it is
		}
		for n := 0; i == 0 && want == 0 || n < want; {
			m, err := syscall.Read(fd, l.room[n:])
			switch {
			case time.Now().After(until):
				return 0, fmt.Errorf("connection %d hears nothing: %w", i, errLost)
			case err == syscall.EAGAIN, err == syscall.EINTR: //nolint:errorlint // it is the number itself
				time.Sleep(time.Millisecond)
				continue
			case err != nil || m <= 0:
				return 0, fmt.Errorf("the first event does not come: %w", err)
			}
			if n += m; i == 0 {
				want = n
			}
		}
	}
	return want, l.answered()
}

// quiet waits until NATS has sent everybody its first ping, which it does once some
// seconds after they came, and forgets them.
func (l *listeners) quiet() {
	time.Sleep(5 * time.Second)
	for _, fd := range l.fds {
		for n := 1; n > 0; {
			n, _ = syscall.Read(fd, l.room)
		}
	}
}

// answered reads the answer to what was told, where there is one.
func (l *listeners) answered() error {
	if l.kind == natsKind {
		return nil
	}
	return l.exchange(l.tells, "", "\r\n\r\n")
}

// hearAll reads until everybody has so many bytes more, and notes when each had them.
func (l *listeners) hearAll(start time.Time, want int) error {
	clear(l.have)
	l.waits = l.waits[:0]
	var ready [256]syscall.EpollEvent
	for len(l.waits) < len(l.fds) {
		n, err := syscall.EpollWait(l.poll, ready[:], 10_000)
		if err == syscall.EINTR { //nolint:errorlint // it is the number itself
			continue
		}
		if err != nil || n == 0 {
			return fmt.Errorf("%d of %d heard the event in time: %w", len(l.waits), len(l.fds), errors.Join(errLost, err))
		}
		for _, e := range ready[:n] {
			i := l.place[e.Fd]
			m, err := syscall.Read(int(e.Fd), l.room)
			if err != nil || m <= 0 {
				return fmt.Errorf("connection %d: %d %w", i, m, err)
			}
			switch l.have[i] += m; {
			case l.have[i] == want:
				l.waits = append(l.waits, time.Since(start))
			case l.have[i] > want:
				return fmt.Errorf("connection %d heard more than there was", i)
			}
		}
	}
	return l.answered()
}
