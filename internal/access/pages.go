package access

import (
	"slices"

	"ferry/internal/integrator"
)

// pages are the integrators by their number in the directory. Like a tree they are
// never changed: setting one copies its page and the list of pages.
type pages []*page

const pageSize = 256

type page [pageSize]*integrator.Integrator

// at is an integrator, or nil.
func (p pages) at(n uint32) *integrator.Integrator {
	if int(n/pageSize) >= len(p) {
		return nil
	}
	return p[n/pageSize][n%pageSize]
}

// with gives pages that have integrators in their places.
func (p pages) with(all map[uint32]*integrator.Integrator) pages {
	if len(all) == 0 {
		return p
	}
	p = slices.Clone(p)
	copied := map[uint32]bool{}
	for n, i := range all {
		for int(n/pageSize) >= len(p) {
			copied[uint32(len(p))] = true
			p = append(p, new(page))
		}
		if !copied[n/pageSize] {
			copied[n/pageSize] = true
			fresh := *p[n/pageSize]
			p[n/pageSize] = &fresh
		}
		p[n/pageSize][n%pageSize] = i
	}
	return p
}
