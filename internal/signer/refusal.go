package signer

import (
	"errors"
	"fmt"
)

// ErrRefused is in every refusal to sign. It is never about the network or the
// recipient: what is refused now may be signed later, after a halt or within a cap.
var ErrRefused = errors.New("signer: refused")

// Reason says which rule a paper broke.
type Reason string

// The reasons.
const (
	NotWished  Reason = "not_wished"  // there is no such wish, or it cannot be looked up
	Closed     Reason = "closed"      // the wish has ended
	Halted     Reason = "halted"      // its chain is stopped, or nobody knows
	Capped     Reason = "capped"      // above a cap
	Unreadable Reason = "unreadable"  // the transaction cannot be read whole
	WrongKeys  Reason = "wrong_keys"  // other keys than those that may sign it
	WrongChain Reason = "wrong_chain" // another chain than the wish's
	Recipient  Reason = "recipient"   // somebody else is paid
	Amount     Reason = "amount"      // another amount moves
	Method     Reason = "method"      // it does something that is not allowed
	Fee        Reason = "fee"         // it costs more than it may
	Beside     Reason = "beside"      // it could land beside an attempt that is not dead
	Coin       Reason = "coin"        // what it says about a coin is not what was said before
)

// Refusal is why a paper is not signed.
type Refusal struct {
	Reason Reason
	Text   string
}

func (r *Refusal) Error() string { return fmt.Sprintf("signer: refused (%s): %s", r.Reason, r.Text) }

// Is makes every refusal an ErrRefused.
func (r *Refusal) Is(target error) bool { return target == ErrRefused }

func refuse(why Reason, format string, args ...any) error {
	return &Refusal{Reason: why, Text: fmt.Sprintf(format, args...)}
}
