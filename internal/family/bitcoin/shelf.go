package bitcoin

import (
	"container/list"
	"sync"
)

// shelf keeps the things that were used last, up to a weight. What stands on it is
// named by its own hash, so it can never be out of date.
type shelf[K comparable, V any] struct {
	mu    sync.Mutex
	room  int
	full  int
	order *list.List // of *book[K, V], newest first
	at    map[K]*list.Element
}

type book[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

func newShelf[K comparable, V any](room int) *shelf[K, V] {
	return &shelf[K, V]{room: room, order: list.New(), at: map[K]*list.Element{}}
}

func (s *shelf[K, V]) get(k K) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.at[k]
	if !ok {
		var zero V
		return zero, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*book[K, V]).value, true //nolint:forcetypeassert // only books stand here
}

func (s *shelf[K, V]) put(k K, v V, weight int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.at[k]; ok || weight > s.room {
		return
	}
	s.at[k] = s.order.PushFront(&book[K, V]{k, v, weight})
	for s.full += weight; s.full > s.room; {
		last := s.order.Back()
		b := last.Value.(*book[K, V]) //nolint:forcetypeassert // only books stand here
		s.order.Remove(last)
		delete(s.at, b.key)
		s.full -= b.weight
	}
}
