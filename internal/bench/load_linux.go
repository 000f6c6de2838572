package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// loader asks a server over some connections that stay open, each with one request
// at a time. It is one thread of its own on the first core, with as little between it
// and the kernel as can be: what it costs must not be taken for the server's.
type loader struct {
	name     string
	requests [][]byte // asked in turns
	lines    []line
	poll     int
	next     int
	waits    []time.Duration
}

// line is one connection.
type line struct {
	fd    int
	began time.Time
	have  []byte // of the answer so far
}

const answerRoom = 64 << 10

// open connects to a server.
func openLoader(name, address string, lines int, requests [][]byte) (*loader, error) {
	l := &loader{name: name, requests: requests}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if l.poll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range lines {
		fd, err := connect(at)
		if err == nil {
			l.lines = append(l.lines, line{fd: fd, have: make([]byte, 0, answerRoom)})
			err = syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(i)})
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), l.close())
		}
	}
	return l, nil
}

func connect(at netip.AddrPort) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	err = errors.Join(
		syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}),
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1),
		syscall.SetNonblock(fd, true),
	)
	if err != nil {
		return -1, errors.Join(err, syscall.Close(fd))
	}
	return fd, nil
}

func (l *loader) close() error {
	err := syscall.Close(l.poll)
	for _, one := range l.lines {
		err = errors.Join(err, syscall.Close(one.fd))
	}
	return err
}

// loaded is what a loader saw.
type loaded struct {
	done   int
	took   time.Duration
	middle time.Duration // half of the answers took longer
}

// run asks for a while and waits for the last answers. Any answer but 200 is an error.
func (l *loader) run(length time.Duration) (loaded, error) {
	runtime.LockOSThread() // and never unlocked: the thread ends with its core set
	if err := pin(loadCore); err != nil {
		return loaded{}, err
	}
	l.waits = l.waits[:0]
	start := time.Now()
	for i := range l.lines {
		if err := l.ask(&l.lines[i]); err != nil {
			return loaded{}, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	for open := len(l.lines); open > 0; {
		ready, err := l.wait()
		if err != nil {
			return loaded{}, fmt.Errorf("%s: %w", l.name, err)
		}
		for _, i := range ready {
			whole, err := l.answer(&l.lines[i])
			switch {
			case err != nil:
			case !whole:
			case time.Since(start) < length:
				err = l.ask(&l.lines[i])
			default:
				open--
			}
			if err != nil {
				return loaded{}, fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	done := loaded{done: len(l.waits), took: time.Since(start)}
	slices.Sort(l.waits)
	done.middle = l.waits[len(l.waits)/2]
	return done, nil
}

// apart runs a loader in a goroutine of its own, whose thread is given up after.
func (l *loader) apart(length time.Duration) (done loaded, err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		done, err = l.run(length)
	}()
	<-ended
	return done, err
}

// ask writes the next request. It is small and the buffer is empty, so that it fits.
func (l *loader) ask(c *line) error {
	request := l.requests[l.next%len(l.requests)]
	l.next++
	c.began, c.have = time.Now(), c.have[:0]
	n, err := syscall.Write(c.fd, request)
	if err == nil && n != len(request) {
		err = errors.New("a request did not fit the socket's buffer")
	}
	return err
}

// wait gives the connections on which something arrived.
func (l *loader) wait() ([]int32, error) {
	var events [128]syscall.EpollEvent
	n, err := syscall.EpollWait(l.poll, events[:], int(patience.Milliseconds()))
	switch {
	case errors.Is(err, syscall.EINTR):
		return nil, nil
	case err != nil:
		return nil, err
	case n == 0:
		return nil, fmt.Errorf("no answer in %s", patience)
	}
	ready := make([]int32, n)
	for i := range ready {
		ready[i] = events[i].Fd
	}
	return ready, nil
}

// answer reads on, and reports whether the answer is whole.
func (l *loader) answer(c *line) (bool, error) {
	n, err := syscall.Read(c.fd, c.have[len(c.have):cap(c.have)])
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		return false, nil
	case err != nil:
		return false, err
	case n <= 0:
		return false, errors.New("the server hung up")
	}
	c.have = c.have[:len(c.have)+n]
	whole, err := wholeAnswer(c.have)
	if whole {
		l.waits = append(l.waits, time.Since(c.began))
	}
	return whole, err
}

var (
	good    = []byte("HTTP/1.1 200 ")
	headEnd = []byte("\r\n\r\n")
	lengths = [][]byte{[]byte("\r\nContent-Length: "), []byte("\r\ncontent-length: ")}
)

// wholeAnswer reports whether an answer is there to its end.
func wholeAnswer(text []byte) (bool, error) {
	head := bytes.Index(text, headEnd)
	if head < 0 {
		return false, nil
	}
	if !bytes.HasPrefix(text, good) {
		return false, fmt.Errorf("answered %.600q", text)
	}
	for _, name := range lengths {
		if i := bytes.Index(text[:head], name); i >= 0 {
			digits := text[i+len(name) : head]
			if end := bytes.IndexByte(digits, '\r'); end >= 0 {
				digits = digits[:end]
			}
			n, err := strconv.Atoi(string(digits))
			return len(text) >= head+len(headEnd)+n, err
		}
	}
	return false, fmt.Errorf("an answer without its length: %.600q", text)
}

// pin keeps the thread on one core.
func pin(core int) error {
	var set [16]uint64
	set[core/64] = 1 << (core % 64)
	_, _, e := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set[0])))
	if e != 0 {
		return fmt.Errorf("keep a thread on core %d: %w", core, e)
	}
	return nil
}
