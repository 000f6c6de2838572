//go:build !linux

package signer

import (
	"errors"
	"net"
)

var errElsewhere = errors.New("signer: a signer in a process of its own needs Linux; give the service the seed instead")

// Harden is not known elsewhere than on Linux.
func Harden() error { return errElsewhere }

func peer(net.Conn) (uint32, error) { return 0, errElsewhere }
