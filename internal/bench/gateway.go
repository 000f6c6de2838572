package main

import (
	"context"
	"errors"
	"fmt"
)

// What a request through the door may cost beside others who keep the same rules.
const (
	nginxGoal   = 0.55
	askingGoal  = 0.20
	fastifyGoal = 0.35
	expressGoal = 0.08
)

// What the door may add to how long one request takes, in microseconds, and beside
// what nginx adds.
const (
	delayGoal       = 10
	delayBesideGoal = 0.1
)

// runGateway measures P2 and P3: the door beside gateways that keep the same rules.
func runGateway(ctx context.Context, o options) (err error) {
	door, err := ourServer(ctx, doorKind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.stop()) }()
	requests := asked(benchPath, door.key)
	n, err := startNginx(ctx, door.key, o.report)
	switch {
	case errors.Is(err, errAbsent):
		o.report.skip("gateway: nginx with limits, nginx auth_request and the added delay beside nginx: %v", err)
	case err != nil:
		return err
	default:
		defer func() { err = errors.Join(err, n.stop()) }()
		if err := o.beside("gateway", "beside nginx with a key map and 5 limits, and its backend", nginxGoal, door, n.limited, requests); err != nil {
			return err
		}
		if err := o.beside("gateway", "beside nginx auth_request, who it asks and its backend", askingGoal, door, n.asking, requests); err != nil {
			return err
		}
	}
	fastify, express := npmPeer{"fastify", fastifyCode, "@fastify/reply-from"}, npmPeer{"express", expressCode, "http-proxy-middleware"}
	for _, c := range []struct {
		peer   npmPeer
		alone  bool
		what   string
		atMost float64
	}{
		{fastify, false, "beside Fastify with 5 limits, and its backend", fastifyGoal},
		{express, false, "beside Express with 5 limits, and its backend", expressGoal},
		{fastify, true, "beside Fastify with 5 limits that answers by itself", 0},
		{express, true, "beside Express with 5 limits that answers by itself", 0},
	} {
		peer, err := startNode(ctx, c.peer, door.key, c.alone, o.report)
		if errors.Is(err, errAbsent) {
			o.report.skip("gateway: %s: %v", c.what, err)
			continue
		}
		if err != nil {
			return err
		}
		err = o.beside("gateway", c.what, c.atMost, door, peer, requests)
		if err := errors.Join(err, peer.stop()); err != nil {
			return err
		}
	}
	return o.delays(ctx, door, n, requests)
}

// delays measures P3: what the door and nginx add to one request at a time.
func (o options) delays(ctx context.Context, door *server, n *nginx, requests [][]byte) (err error) {
	bare, err := ourServer(ctx, bareKind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	ours, err := o.delay("door", door, bare, requests)
	if err != nil {
		return err
	}
	o.report.add(result{Bench: "gateway", Name: "added to one request at a time, the median", Unit: "µs", Ours: ours, Rounds: o.rounds}.within(delayGoal))
	if n == nil {
		return nil
	}
	theirs, err := o.delay("nginx", n.limited, bare, requests)
	if err != nil {
		return err
	}
	r := result{Bench: "gateway", Name: "the same beside what nginx adds", Unit: "µs", Ours: ours, Floor: theirs, AtMost: delayBesideGoal, Rounds: o.rounds}
	r.Ratio = ours / theirs
	r.Low, r.High, r.Missed = r.Ratio, r.Ratio, r.Ratio > r.AtMost
	o.report.add(r)
	return nil
}

// delay is how much longer a request takes on a server than on the floor.
func (o options) delay(name string, s, floor *server, requests [][]byte) (added float64, err error) {
	a, err := meet(s, 1, requests)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, a.leave()) }()
	b, err := meet(floor, 1, requests)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.leave()) }()
	length := o.length / slicesOfRound
	d, err := interleave(fmt.Sprintf("gateway: delay of %s", name), o.rounds, cost, [2]side{a.delay(length), b.delay(length)})
	if err != nil {
		return 0, err
	}
	var all []float64
	for i := range d.ours {
		all = append(all, d.ours[i]-d.floor[i])
	}
	return median(all), nil
}
