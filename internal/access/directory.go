package access

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/fault"
	"ferry/internal/integrator"
)

// maxAsk is how long one question to the register may take before it is asked anew.
const maxAsk = 10 * time.Second

// Directory knows every integrator and key as of the register's last answer.
// Readers see one answer whole, and never wait for the next.
type Directory struct {
	reg  Register
	cfg  Config
	wake chan struct{}

	asking sync.Mutex // one question at a time, so that answers are taken in their order
	known  atomic.Pointer[snapshot]
}

// snapshot is one answer of the register with all before it. It is never changed.
type snapshot struct {
	version   int64
	asked     time.Time // when the question was put; the answer is at least that young
	keys      tree[integrator.Digest, entry]
	companies pages
	// numbers are the places of the companies. Only who asks may touch them.
	numbers map[integrator.ID]uint32
}

// entry has of a key what decides whether it opens anything.
type entry struct {
	key     *integrator.Key
	owner   uint32
	revoked bool
}

func emptySnapshot() *snapshot { return &snapshot{numbers: map[integrator.ID]uint32{}} }

func digestHash(d *integrator.Digest) uint64 { return binary.LittleEndian.Uint64(d[:]) }

// NewDirectory asks the register for everything it has.
func NewDirectory(ctx context.Context, reg Register, cfg Config) (*Directory, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	d := &Directory{reg: reg, cfg: cfg, wake: make(chan struct{}, 1)}
	d.known.Store(emptySnapshot())
	if err := d.ask(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// Run asks the register again and again until ctx ends. Trouble is told and tried
// again: meanwhile keys are believed for as long as the last answer may be old.
func (d *Directory) Run(ctx context.Context) error {
	tick := time.NewTicker(d.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-d.wake:
		}
		switch err := d.ask(ctx); {
		case err == nil:
		case ctx.Err() != nil:
			return nil
		case d.cfg.Trouble == nil:
			return err
		default:
			d.cfg.Trouble(err)
		}
	}
}

// Wake has Run ask at once, because something changed.
func (d *Directory) Wake() {
	select {
	case d.wake <- struct{}{}:
	default: // it is going to ask anyway
	}
}

// Version is how far the register's changes are known.
func (d *Directory) Version() int64 { return d.known.Load().version }

// Asked is when the question was put that was answered last.
func (d *Directory) Asked() time.Time { return d.known.Load().asked }

// ask takes what changed since the last answer.
func (d *Directory) ask(ctx context.Context) error {
	d.asking.Lock()
	defer d.asking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, maxAsk)
	defer cancel()
	known := d.known.Load()
	asked := d.cfg.Now()
	changes, err := d.reg.Changes(ctx, known.version)
	if err == nil && changes.Version < known.version {
		// The register was put back to an earlier time: what is known here may not be
		// there any more, so nothing of it is kept.
		known = emptySnapshot()
		changes, err = d.reg.Changes(ctx, 0)
	}
	if err != nil {
		return fmt.Errorf("integrators and keys changed after %d: %w", known.version, err)
	}
	d.known.Store(known.with(&changes, asked))
	return nil
}

// with is the snapshot after an answer.
func (s *snapshot) with(c *Changes, asked time.Time) *snapshot {
	next := &snapshot{version: c.Version, asked: asked, keys: s.keys, numbers: s.numbers}
	companies := make(map[uint32]*integrator.Integrator, len(c.Integrators))
	for _, i := range c.Integrators {
		companies[s.number(i.ID)] = &i
	}
	next.companies = s.companies.with(companies)
	e := new(edit)
	for _, k := range c.Keys {
		next.keys = next.keys.put(e, digestHash(&k.Digest), k.Digest, entry{key: &k, owner: s.number(k.Integrator), revoked: k.Revoked()})
	}
	return next
}

// number is the place of a company, which it may have before it is known itself.
// Places begin at 1: the first is nobody's.
func (s *snapshot) number(id integrator.ID) uint32 {
	n, ok := s.numbers[id]
	if !ok {
		n = uint32(len(s.numbers)) + 1
		s.numbers[id] = n
	}
	return n
}

// Stand-ins for a key and an integrator that are not there, so that looking for an
// unknown key is the same work as looking for one that is known.
var (
	nobodysKey = entry{key: &integrator.Key{}}
	nobody     = integrator.Integrator{}
)

// find is a key with its integrator, or why they open nothing. The kind is the one
// that the key's form says: a register that says another is not believed.
func (s *snapshot) find(d *integrator.Digest, kind integrator.Kind) (*integrator.Key, *integrator.Integrator, *fault.Error) {
	found := s.keys.get(digestHash(d), *d)
	unknown := found == nil
	if unknown {
		found = &nobodysKey
	}
	owner := s.companies.at(found.owner)
	if owner == nil {
		unknown, owner = true, &nobody
	}
	suspended := owner.Status != integrator.Active
	switch {
	case unknown || found.key.Kind != kind:
		return nil, nil, errInvalidKey
	case suspended:
		return nil, nil, errSuspended
	case found.revoked:
		return nil, nil, errKeyRevoked
	}
	return found.key, owner, nil
}
