package order

import (
	"ferry/internal/chain"
)

// Effect is a wish that a change makes. The store keeps it as work in the same
// transaction; somebody carries it out later, once, under its own name.
type Effect interface {
	effect()
	Name() string
}

// Purpose is what a transfer is for.
type Purpose string

// The purposes.
const (
	ForPayout   Purpose = "payout"
	ForRefund   Purpose = "refund"
	ForFee      Purpose = "fee"
	ForRecovery Purpose = "recovery"
	ForStep     Purpose = "step"
)

// The effects.
type (
	// Wish asks for a transfer. Its ID is the transfer's for ever.
	Wish struct {
		ID      string
		For     Purpose
		Deposit chain.DepositID // of a recovery
		Call    chain.Call
	}
	// Price asks what a transfer would cost now, before it is wished.
	Price struct {
		ID      string
		For     Purpose
		Deposit chain.DepositID
		Call    chain.Call
	}
	// RunStep asks a venue to go on with a step of the route.
	RunStep struct{ Index int }
	// LookBridge asks the chains where a bridge stands that the owner runs. Of several
	// only the last counts.
	LookBridge struct{ Turn int }
	// AskHuman puts the order before an operator.
	AskHuman struct{ Why Reason }
)

func (Wish) effect()       {}
func (Price) effect()      {}
func (RunStep) effect()    {}
func (LookBridge) effect() {}
func (AskHuman) effect()   {}

// Name implements Effect.
func (Wish) Name() string       { return "wish" }
func (Price) Name() string      { return "price" }
func (RunStep) Name() string    { return "run_step" }
func (LookBridge) Name() string { return "look_bridge" }
func (AskHuman) Name() string   { return "ask_human" }
