package limit_test

import (
	"net/netip"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/integrator"
	"ferry/internal/limit"
)

// noon is where fake clocks begin; it has no monotonic reading.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func memory(t testing.TB, now time.Time) *limit.Memory {
	t.Helper()
	m, err := limit.NewMemory(now, limit.DefaultEntries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// server is a principal with a server key whose limits are all set and all differ.
func server(source access.Source) *access.Principal {
	i := &integrator.Integrator{
		ID: "int_acme", Status: integrator.Active, Window: 2 * time.Hour,
		Limits: integrator.Limits{Requests: 600, Quotes: 300, Creates: 60, OpenOrders: 200},
		Forwarding: integrator.Forwarding{
			Enabled: source == access.Forwarded || source == access.Shared,
			Limits:  integrator.ClientLimits{Requests: 61, Creates: 10, OpenOrders: 5},
		},
	}
	p := &access.Principal{
		Integrator: i,
		Key:        &integrator.Key{ID: "key_acme", Integrator: i.ID, Kind: integrator.Server, Requests: 301},
		Peer:       netip.MustParseAddr("203.0.113.7"), Source: source,
	}
	if source == access.Forwarded {
		p.Client = netip.MustParseAddr("198.51.100.9")
	}
	return p
}

// visitor is a principal without a key, or with a public one.
func visitor(public bool) *access.Principal {
	at := netip.MustParseAddr("192.0.2.1")
	p := &access.Principal{Peer: at, Client: at, Source: access.OwnAddress}
	if public {
		i := server(access.Backend).Integrator
		p.Integrator = i
		p.Key = &integrator.Key{ID: "key_web", Integrator: i.ID, Kind: integrator.Public, Requests: 301}
	}
	return p
}

// address is the nth of many.
func address(n uint64) netip.Addr {
	var a [16]byte
	a[0], a[1] = 0x20, 0x01
	for i := range 8 {
		a[15-i] = byte(n >> (8 * i))
	}
	return netip.AddrFrom16(a)
}

func one(r limit.Resource, name string, n int64) limit.Claim {
	return limit.Claim{Subject: limit.Subject{Resource: r, Company: "int_acme", Name: name}, Limit: n}
}
