package office

import (
	"errors"
	"fmt"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
)

// badField is the refusal of one field.
func badField(field, why string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "invalid_field", "%s: %s.", field, fmt.Sprintf(why, args...)).With("field", field)
}

// refusal is an error of the rooms below as callers may read it. What is no
// refusal stays what it is: whoever made it has said what it is about.
func refusal(err error) error {
	var p *integrator.Problem
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &p):
		return badField(p.Field, "%s", p.Why)
	case errors.Is(err, ErrChanged):
		return fault.New(fault.Conflict, "integrator_changed",
			"The integrator was changed meanwhile; read it again and repeat the change if it is still wanted.").Because(err)
	}
	return err
}

func noIntegrator(id integrator.ID) *fault.Error {
	return fault.New(fault.NotFound, "integrator_not_found", "No integrator %q; list the integrators to find its id.", clip(string(id)))
}

func noKey(id integrator.KeyID) *fault.Error {
	return fault.New(fault.NotFound, "key_not_found", "No key %q; list the keys of the integrator to find its id.", clip(string(id)))
}

func noHalt(id chain.ID) *fault.Error {
	return fault.New(fault.NotFound, "halt_not_found", "Chain %q is not halted; list the halts to see which are.", clip(string(id)))
}

func noSweeps(id chain.ID) *fault.Error {
	return fault.New(fault.NotFound, "chain_not_found", "No deposits are brought home on chain %q; give the id of a chain of this service, such as eip155:1.", clip(string(id)))
}

var errNoSweeper = fault.New(fault.Conflict, "sweep_not_possible",
	"Nobody brings deposits home here; ask the running service, and let its [treasury] table say sweep = true.")

var errNoPricer = fault.New(fault.Conflict, "prices_not_here", "Nobody judges prices here; ask the running service.")

func notStopped(symbol, seen string) *fault.Error {
	return fault.New(fault.Conflict, "price_not_stopped", "%s is not stopped at %s now; look again, and confirm what it is stopped at.", clip(symbol), clip(seen))
}

// clip keeps what a caller sent from filling an answer.
func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}
