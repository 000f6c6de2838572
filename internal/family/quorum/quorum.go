package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrUnknown: too few nodes said the same. It says nothing about the chain.
var ErrUnknown = errors.New("quorum: not enough nodes agree")

// Rule is how many of how many nodes must say the same.
type Rule struct{ nodes, need int }

// New makes a rule; need must be at least one and at most the number of nodes.
func New(nodes, need int) (Rule, error) {
	if need < 1 || need > nodes {
		return Rule{}, fmt.Errorf("quorum: %d of %d nodes is no rule", need, nodes)
	}
	return Rule{nodes: nodes, need: need}, nil
}

// Nodes is how many nodes are asked.
func (r Rule) Nodes() int { return r.nodes }

// Need is how many must say the same.
func (r Rule) Need() int { return r.need }

// Answer is what one node said. With an error it said nothing.
type Answer[T any] struct {
	Value T
	Err   error
}

// Ask asks the nodes one after another. A context that ends is the error of all
// that were not asked.
func Ask[T any](ctx context.Context, r Rule, ask func(node int) (T, error)) []Answer[T] {
	answers := make([]Answer[T], r.nodes)
	for i := range answers {
		if err := ctx.Err(); err != nil {
			answers[i].Err = err
			continue
		}
		answers[i].Value, answers[i].Err = ask(i)
	}
	return answers
}

// Agree is the answer that enough nodes gave. Two different answers that both
// have enough nodes behind them are no answer.
func Agree[T any](r Rule, answers []Answer[T], same func(a, b T) bool) (T, error) {
	var found T
	var zero T
	ok := false
	for i, a := range answers {
		if a.Err != nil || slices.ContainsFunc(answers[:i], func(b Answer[T]) bool { return b.Err == nil && same(b.Value, a.Value) }) {
			continue
		}
		votes := 1
		for _, b := range answers[i+1:] {
			if b.Err == nil && same(a.Value, b.Value) {
				votes++
			}
		}
		if votes < r.need {
			continue
		}
		if ok {
			return zero, fmt.Errorf("%w: two answers have %d nodes each", ErrUnknown, r.need)
		}
		found, ok = a.Value, true
	}
	if !ok {
		return zero, unknown(r, answers)
	}
	return found, nil
}

// Same is Agree for answers that can be compared.
func Same[T comparable](r Rule, answers []Answer[T]) (T, error) {
	return Agree(r, answers, func(a, b T) bool { return a == b })
}

// Reached is the highest number that enough nodes have reached: one that says too
// much and one that lags behind change nothing.
func Reached(r Rule, answers []Answer[uint64]) (uint64, error) {
	said := values(answers)
	if len(said) < r.need {
		return 0, unknown(r, answers)
	}
	slices.Sort(said)
	return said[len(said)-r.need], nil
}

// Middle is the middle one of enough answers, the upper of two: for numbers on
// which honest nodes may differ a little, such as a price.
func Middle[T any](r Rule, answers []Answer[T], cmp func(a, b T) int) (T, error) {
	said := values(answers)
	if len(said) < r.need {
		var zero T
		return zero, unknown(r, answers)
	}
	slices.SortFunc(said, cmp)
	return said[len(said)/2], nil
}

// Shown are the things that enough nodes show, in the order of the first node
// that shows them: for mempools, which are never quite equal.
func Shown[T comparable](r Rule, answers []Answer[[]T]) ([]T, error) {
	said := values(answers)
	if len(said) < r.need {
		return nil, unknown(r, answers)
	}
	votes := make(map[T]int)
	var order []T
	for _, list := range said {
		mine := make(map[T]bool, len(list))
		for _, v := range list {
			if mine[v] { // a node has one vote for a thing, however often it lists it
				continue
			}
			mine[v] = true
			if votes[v]++; votes[v] == 1 {
				order = append(order, v)
			}
		}
	}
	return slices.DeleteFunc(order, func(v T) bool { return votes[v] < r.need }), nil
}

// Heard is no error if enough nodes took what they were sent.
func Heard[T any](r Rule, answers []Answer[T]) error {
	if len(values(answers)) < r.need {
		return unknown(r, answers)
	}
	return nil
}

func values[T any](answers []Answer[T]) []T {
	out := make([]T, 0, len(answers))
	for _, a := range answers {
		if a.Err == nil {
			out = append(out, a.Value)
		}
	}
	return out
}

// unknown keeps what the nodes said went wrong.
func unknown[T any](r Rule, answers []Answer[T]) error {
	errs := make([]error, 0, len(answers))
	for i, a := range answers {
		if a.Err != nil {
			errs = append(errs, fmt.Errorf("node %d: %w", i, a.Err))
		}
	}
	if len(errs) == 0 {
		return fmt.Errorf("%w: %d must, and they say different things", ErrUnknown, r.need)
	}
	return fmt.Errorf("%w: %d must: %w", ErrUnknown, r.need, errors.Join(errs...))
}
