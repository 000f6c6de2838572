package quote

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Progress is what is known of a step that runs.
type Progress struct {
	In    money.Amount // what the step has to work with, of its Step.In
	Calls []Sent       // what it asked for before, in that order
	At    time.Time
}

// Sent is a call that a step asked for, and what became of it. Its Tx is empty until
// bytes of it were signed; Fate is Final, Reverted or Dead once it is settled.
type Sent struct {
	Call chain.Call
	Tx   chain.TxID
	Fate chain.Fate
	Cost money.Amount // what the chain took, in its own coin
}

// Move is what a step needs next: one of Send, Wait, Done and Fail.
type Move interface{ move() }

// The moves.
type (
	// Send asks for a transaction; the step is asked again when it is settled.
	Send struct{ Call chain.Call }
	// Wait asks to be asked again after a while.
	Wait struct {
		For time.Duration
		Why string
	}
	// Done: the step took In of what it was given and brought Out, for good.
	Done struct{ In, Out money.Amount }
	// Fail: the step can not be done, and what it was given is still here.
	Fail struct{ Why string }
)

func (Send) move() {}
func (Wait) move() {}
func (Done) move() {}
func (Fail) move() {}
