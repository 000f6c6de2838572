package limit_test

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/integrator"
	"ferry/internal/limit"
)

const plenty = 1_000_000_000

// sixClaims are those of a forwarded request that quotes and creates at once.
func sixClaims(company, client int) []limit.Claim {
	p := server(access.Forwarded)
	p.Integrator.ID = integrator.ID(fmt.Sprintf("int_%026d", company))
	p.Key.ID = integrator.KeyID(fmt.Sprintf("key_%026d", company))
	p.Key.Requests = plenty
	p.Integrator.Limits = integrator.Limits{Requests: plenty, Quotes: plenty, Creates: plenty}
	p.Integrator.Forwarding.Limits = integrator.ClientLimits{Requests: plenty, Creates: plenty}
	p.Client = netip.AddrFrom4([4]byte{198, 51, byte(client >> 8), byte(client)})
	return limit.Claims(nil, p, limit.Quote|limit.Create, limit.DefaultIPLimits)
}

func benchmarkTake(b *testing.B, callers, companies int) {
	m := memory(b, time.Now())
	all := make([][]limit.Claim, 0, max(companies, 64))
	for i := range max(companies, 64) {
		all = append(all, sixClaims(i%companies, i))
	}
	if len(all[0]) != 6 {
		b.Fatalf("%d claims", len(all[0]))
	}
	var next atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(callers) // for each core
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		i := int(next.Add(1)) * 7919
		for pb.Next() {
			v := m.Take(time.Now(), all[i%len(all)])
			if !v.Allowed() {
				b.Error("refused")
			}
			i++
		}
	})
}

func BenchmarkTakeSixOneCompanyOneCaller(b *testing.B) {
	m, claims := memory(b, time.Now()), sixClaims(1, 1)
	b.ReportAllocs()
	for b.Loop() {
		v := m.Take(time.Now(), claims)
		if !v.Allowed() {
			b.Fatal("refused")
		}
	}
}

func BenchmarkTakeSixOneCompany64Callers(b *testing.B)        { benchmarkTake(b, 32, 1) }
func BenchmarkTakeSixThousandCompanies64Callers(b *testing.B) { benchmarkTake(b, 32, 1000) }

// More subjects must not make a request dearer, but for the machine's caches.
func BenchmarkTakeAmongAddresses(b *testing.B) {
	for _, n := range []uint64{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, claims := memory(b, noon), make([]limit.Claim, 1)
			b.ReportAllocs()
			i := uint64(0)
			for b.Loop() {
				claims[0] = byAddress(i*7919%n, plenty)
				m.Take(noon, claims)
				i++
			}
		})
	}
}

// Every request comes from an address that was never seen, and memory is full.
func BenchmarkTakeNewAddresses(b *testing.B) {
	m, claims := memory(b, noon), make([]limit.Claim, 1)
	for n := range uint64(2 * limit.DefaultEntries) {
		claims[0] = byAddress(n, 60)
		m.Take(noon, claims)
	}
	b.ReportAllocs()
	n := uint64(2 * limit.DefaultEntries)
	for b.Loop() {
		claims[0] = byAddress(n, 60)
		m.Take(noon, claims)
		n++
	}
}

func BenchmarkClaimsSix(b *testing.B) {
	p := server(access.Forwarded)
	dst := make([]limit.Claim, 0, limit.MaxClaims)
	b.ReportAllocs()
	for b.Loop() {
		dst = limit.Claims(dst[:0], p, limit.Quote|limit.Create, limit.DefaultIPLimits)
	}
}

func BenchmarkHeaders(b *testing.B) {
	m, claims := memory(b, noon), sixClaims(1, 1)
	v := m.Take(noon, claims)
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = limit.AppendState(limit.AppendPolicy(buf[:0], claims), &v)
	}
}

// The same six where four of them are shared with other processes.
func BenchmarkTakeSixShared(b *testing.B) {
	s, err := limit.NewShared(memory(b, time.Now()), limit.SharedConfig{
		Pool: newPool(time.Now), Now: time.Now, Name: func() string { return "process" }, Trouble: func(err error) { b.Error(err) },
		Spawn: func(func()) {}, // this pool has no lock
	})
	if err == nil {
		err = s.Beat(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	p := server(access.Forwarded)
	p.Integrator.Limits = integrator.Limits{Requests: 1 << 50, Quotes: 1 << 50, Creates: 1 << 50}
	p.Key.Requests, p.Integrator.Forwarding.Limits.Requests, p.Integrator.Forwarding.Limits.Creates = 1<<50, 1<<50, 1<<50
	claims := limit.Claims(nil, p, limit.Quote|limit.Create, limit.DefaultIPLimits)
	b.ReportAllocs()
	for b.Loop() {
		if v := s.Take(time.Now(), claims); !v.Allowed() {
			b.Fatal("refused")
		}
	}
}
