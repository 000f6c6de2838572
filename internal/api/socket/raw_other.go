//go:build !unix

package socket

import (
	"net"
	"syscall"
)

// rawOf is nothing where the system has no such thing: connections wait instead.
func rawOf(net.Conn) syscall.RawConn { return nil }

func writeOnce(uintptr, []byte) (int, error) { return 0, syscall.EINVAL }

func readOnce(uintptr, []byte) (int, error) { return 0, syscall.EINVAL }
