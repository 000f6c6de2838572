package office

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Sum is the SHA-256 over an entry of the log and everything before it.
type Sum [sha256.Size]byte

// String is the sum in hex.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// What is done, as the log names it.
const (
	CreatedIntegrator   = "integrator.created"
	ChangedIntegrator   = "integrator.changed"
	SuspendedIntegrator = "integrator.suspended"
	ResumedIntegrator   = "integrator.resumed"
	IssuedKey           = "key.issued"
	RevokedKey          = "key.revoked"
	ResumedChain        = "chain.resumed"
	HurriedSweep        = "sweep.hurried"
	ConfirmedPrice      = "price.confirmed"
)

// Entry is one row of the log of what operators did. Before and After are JSON
// objects of what differs, without secrets. A store gives it its number and seals it.
type Entry struct {
	Seq    int64
	At     time.Time
	By     string
	Action string
	Target string
	Before string
	After  string
	Prev   Sum // of the entry before
	Sum    Sum
}

// Seal puts an entry behind another: it gets the next number and both sums.
func (e Entry) Seal(seq int64, prev Sum) Entry {
	e.Seq, e.Prev = seq, prev
	e.Sum = e.sum()
	return e
}

// sum hashes every field with its length before it, so that no text can be moved
// from one field to the next.
func (e Entry) sum() Sum {
	h := sha256.New()
	put := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	put([]byte("ferry operator log 1"))
	put(e.Prev[:])
	put(binary.BigEndian.AppendUint64(nil, uint64(e.Seq)))
	put(binary.BigEndian.AppendUint64(nil, uint64(e.At.UnixMicro())))
	for _, text := range []string{e.By, e.Action, e.Target, e.Before, e.After} {
		put([]byte(text))
	}
	return Sum(h.Sum(nil))
}

// Verdict is what was found by going through the log: how many entries it has and
// the sum of the last. Whoever wrote that sum down elsewhere can tell later whether
// the log was made anew from the start.
type Verdict struct {
	Entries int64
	Head    Sum
}

// ErrBroken: the log was changed after it was written.
var ErrBroken = errors.New("office: the operators' log was changed")

// Verifier goes through the log from its first entry.
type Verifier struct{ seen Verdict }

// Next takes the next entry, and refuses one that does not follow.
func (v *Verifier) Next(e Entry) error {
	switch {
	case e.Seq != v.seen.Entries+1:
		return fmt.Errorf("%w: entry %d is followed by entry %d", ErrBroken, v.seen.Entries, e.Seq)
	case e.Prev != v.seen.Head:
		return fmt.Errorf("%w: entry %d does not follow the one before it", ErrBroken, e.Seq)
	case e.Sum != e.sum():
		return fmt.Errorf("%w: entry %d is not what was written", ErrBroken, e.Seq)
	}
	v.seen = Verdict{Entries: e.Seq, Head: e.Sum}
	return nil
}

// End compares what was seen with where the log is known to end.
func (v *Verifier) End(want Verdict) (Verdict, error) {
	if v.seen != want {
		return v.seen, fmt.Errorf("%w: it ends with entry %d, and entry %d was written last", ErrBroken, v.seen.Entries, want.Entries)
	}
	return v.seen, nil
}
