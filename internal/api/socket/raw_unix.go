//go:build unix

package socket

import (
	"errors"
	"net"
	"syscall"
)

// rawOf is the connection as the system has it, for reading and writing without
// waiting and so without memory.
func rawOf(conn net.Conn) syscall.RawConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

func writeOnce(fd uintptr, p []byte) (n int, err error) {
	for {
		n, err = syscall.Write(int(fd), p)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

func readOnce(fd uintptr, p []byte) (n int, err error) {
	for {
		n, err = syscall.Read(int(fd), p)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
