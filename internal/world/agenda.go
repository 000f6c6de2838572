package world

import (
	"container/heap"
	"time"
)

// agenda is what will happen when, in a fixed order.
type agenda struct {
	items items
	seq   int
}

type item struct {
	at  time.Time
	seq int
	do  func()
}

type items []item

func (x items) Len() int { return len(x) }
func (x items) Less(i, j int) bool {
	if x[i].at.Equal(x[j].at) {
		return x[i].seq < x[j].seq
	}
	return x[i].at.Before(x[j].at)
}
func (x items) Swap(i, j int) { x[i], x[j] = x[j], x[i] }
func (x *items) Push(v any)   { *x = append(*x, v.(item)) }
func (x *items) Pop() any {
	old := *x
	v := old[len(old)-1]
	*x = old[:len(old)-1]
	return v
}

// at plans something.
func (a *agenda) at(t time.Time, do func()) {
	a.seq++
	heap.Push(&a.items, item{t, a.seq, do})
}

// run does all that is due.
func (a *agenda) run(now time.Time) {
	for len(a.items) > 0 && !a.items[0].at.After(now) {
		heap.Pop(&a.items).(item).do()
	}
}
