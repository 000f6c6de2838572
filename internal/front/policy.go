package front

import (
	"sync/atomic"
	"unsafe"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/integrator"
	"ferry/internal/limit"
)

// policies remembers the header RateLimit-Policy of callers: it says what is allowed,
// not what is left, and so is the same until somebody changes a limit. Then the
// directory has another integrator or key in that place, and nothing is found here.
// A place holds the last caller only, so that memory is bounded whatever comes.
type policies struct {
	places [1 << 10]atomic.Pointer[policy]
}

// policy is the header of whoever has this integrator, this key and this source.
type policy struct {
	integrator *integrator.Integrator
	key        *integrator.Key
	source     access.Source
	spends     api.Spend
	value      string
}

// of is the header's value for claims that p makes when it spends s.
func (all *policies) of(p *access.Principal, s api.Spend, claims []limit.Claim) string {
	// Neighbours on the heap lie some words apart: the lowest bits say nothing.
	const word = 4
	mark := uintptr(unsafe.Pointer(p.Key))>>word ^ uintptr(s)<<3 ^ uintptr(p.Source)<<6
	place := &all.places[mark%uintptr(len(all.places))]
	if known := place.Load(); known != nil && known.key == p.Key && known.integrator == p.Integrator && known.source == p.Source && known.spends == s {
		return known.value
	}
	var text [512]byte
	made := &policy{integrator: p.Integrator, key: p.Key, source: p.Source, spends: s, value: string(limit.AppendPolicy(text[:0], claims))}
	place.Store(made)
	return made.value
}
