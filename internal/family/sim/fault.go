package sim

import (
	"context"
	"errors"
	"fmt"
)

// Kind is how a node fails a call.
type Kind uint8

// The kinds. Those that are errors tell the caller nothing.
const (
	Healthy    Kind = iota
	FailBefore      // an error, and nothing happened
	FailAfter       // an error, and yet it happened
	Timeout         // no answer in time, and nothing happened
	Duplicate       // it happens twice, and lists show everything twice
	Reorder         // lists come in another order
	Stale           // it answers from some blocks ago
	Lying           // it says what is not so
	Partition       // it cannot be reached
)

// Lie is what a lying node lies about; lies can be added up. A lie that does not
// fit a call leaves its answer as it is.
type Lie uint8

// The lies.
const (
	Forge     Lie = 1 << iota // payments, blocks and landings that are not there
	Hide                      // payments and blocks that are there; broadcasts are swallowed
	Wrong                     // wrong balances, counts, coins and prices
	NotFound                  // a transaction that is there is not found
	FakeFinal                 // what is new is final

	AllLies = Forge | Hide | Wrong | NotFound | FakeFinal
)

// Fault is how a node fails. The zero fault is an honest answer.
type Fault struct {
	Kind   Kind
	Blocks int // Stale: how many blocks ago; one if zero
	Lie    Lie // Lying
}

// Hook decides, call by call, how a node fails; it is asked after the node's own
// fault and only if that is none. It must not call the net. The calls are named
// Head, Next, Deposits, Pending, Price, Count, Balance, Coins, Status, Spender,
// View and Broadcast.
type Hook func(node int, call string) Fault

// SetHook makes h decide about every call to every node from now on; nil is nobody.
func (n *Net) SetHook(h Hook) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hook = h
}

// Errors of a faulty node.
var (
	ErrFailed      = errors.New("sim: the node failed")
	ErrUnreachable = errors.New("sim: the node cannot be reached")
	// ErrBehind: the node has not seen the block it is asked about.
	ErrBehind = errors.New("sim: the node does not have that block")
)

// before is the error of a call that never came to the node.
func (f Fault) before(call string) error {
	switch f.Kind {
	case FailBefore:
		return fmt.Errorf("%s: %w", call, ErrFailed)
	case Timeout:
		return fmt.Errorf("%s: %w", call, context.DeadlineExceeded)
	case Partition:
		return fmt.Errorf("%s: %w", call, ErrUnreachable)
	}
	return nil
}

func (f Fault) lies(l Lie) bool { return f.Kind == Lying && f.Lie&l != 0 }

// Node is one node's view of a net.
type Node struct {
	net   *Net
	index int
	fault Fault // guarded by the net
}

// Set makes the node fail in that way until it is set anew.
func (d *Node) Set(f Fault) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	d.fault = f
}

// Heal makes the node honest.
func (d *Node) Heal() { d.Set(Fault{}) }

// consult says how this call fails.
func (d *Node) consult(call string) Fault {
	d.net.mu.Lock()
	f, hook := d.fault, d.net.hook
	d.net.mu.Unlock()
	if f.Kind == Healthy && hook != nil {
		return hook(d.index, call)
	}
	return f
}

// serve answers a call as the node's fault has it. The view is the tip of the
// branch that the node knows.
func serve[T any](d *Node, call string, answer func(f Fault, view *block) (T, error)) (T, error) {
	var zero T
	f := d.consult(call)
	if err := f.before(call); err != nil {
		return zero, err
	}
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	view := d.net.tip()
	if f.Kind == Stale {
		view = d.net.canon[max(0, view.n-max(1, f.Blocks))]
	}
	v, err := answer(f, view)
	if f.Kind == FailAfter {
		return zero, fmt.Errorf("%s: %w after it was done", call, ErrFailed)
	}
	if err != nil {
		return zero, fmt.Errorf("%s: %w", call, err)
	}
	return v, nil
}
