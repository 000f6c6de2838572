package main

import (
	"context"
	"errors"
	"fmt"
)

// The connections at once of a load, and how many end users it speaks for.
const (
	manyLines = 64
	endUsers  = 1000
)

// doorGoal is what a request through the whole door may cost beside a bare handler.
const doorGoal = 1.10

// asked are the requests of a load: the same for every server, so that all read the
// same headers.
func asked(path, key string) [][]byte {
	all := make([][]byte, endUsers)
	for i := range all {
		all[i] = fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: ferry.test\r\nUser-Agent: bench\r\nAccept: application/json\r\nX-Integrator-Key: %s\r\nX-End-User-IP: 198.51.%d.%d\r\n\r\n",
			path, key, i/250, i%250+1)
	}
	return all
}

// runDoor measures P1: what the door costs beside a bare handler.
func runDoor(ctx context.Context, o options) (err error) {
	if err := admission(ctx, o); err != nil {
		return err
	}
	for _, c := range []struct {
		ours, floor, name string
		atMost            float64
	}{
		{doorKind, bareKind, "request with key, six limits and end user, beside a bare handler", doorGoal},
		{loggedKind, bareKind, "the same with its line in the log", 0},
	} {
		if err := o.doorBeside(ctx, c.name, c.atMost, [2]string{c.ours, c.floor}); err != nil {
			return err
		}
	}
	return nil
}

// doorBeside measures a door of ours beside a server that lets everybody in.
func (o options) doorBeside(ctx context.Context, name string, atMost float64, kinds [2]string) (err error) {
	floor, err := ourServer(ctx, kinds[1])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.stop()) }()
	door, err := ourServer(ctx, kinds[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.stop()) }()
	return o.beside("door", name, atMost, door, floor, asked(benchPath, door.key))
}

// beside measures the CPU of a request on two servers and adds it to the report.
func (o options) beside(bench, name string, atMost float64, ours, floor *server, requests [][]byte) error {
	d, rates, err := o.contest(bench+": "+name, ours, floor, requests)
	if err != nil {
		return err
	}
	o.report.add(result{Bench: bench, Name: name, Unit: "µs CPU", AtMost: atMost}.judged(d))
	o.report.add(result{Bench: bench, Name: name, Unit: "requests/s", Ours: rates[0], Floor: rates[1]})
	return nil
}

// contest measures the CPU of a request on two servers, and how many a second both answer.
func (o options) contest(name string, ours, floor *server, requests [][]byte) (d duel, rates [2]float64, err error) {
	a, err := meet(ours, manyLines, requests)
	if err != nil {
		return d, rates, err
	}
	defer func() { err = errors.Join(err, a.leave()) }()
	b, err := meet(floor, manyLines, requests)
	if err != nil {
		return d, rates, err
	}
	defer func() { err = errors.Join(err, b.leave()) }()
	length := o.length / slicesOfRound
	sides := [2]side{a.work(length), b.work(length)}
	for _, warm := range sides {
		for range 3 {
			if _, _, err := warm(0, 0); err != nil {
				return d, rates, err
			}
		}
	}
	a.done, a.wall, b.done, b.wall = 0, 0, 0, 0
	d, err = interleave(name, o.rounds, cost, sides)
	return d, [2]float64{a.pace(), b.pace()}, err
}
