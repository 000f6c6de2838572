package access

import "slices"

// A tree is a map that is never changed: putting gives another one that shares all
// but one path with it. Readers therefore need no lock, and a change among many keys
// costs the length of a path, not the number of keys.
type tree[K comparable, V any] struct{ root *branch[K, V] }

const (
	branchBits = 5
	branches   = 1 << branchBits
	leafItems  = 8
	hashBits   = 64
)

type branch[K comparable, V any] struct {
	edit  *edit
	slots [branches]slot[K, V]
}

// slot leads to a branch below, or has items. They are held without a step between,
// because among many keys every step is a wait for memory.
type slot[K comparable, V any] struct {
	below *branch[K, V]
	items []item[K, V]
}

type item[K comparable, V any] struct {
	hash  uint64
	key   K
	value V
}

// An edit marks the branches that were made for one change and that nobody has seen
// yet, so that many puts of one change copy a path once.
type edit struct{ _ byte }

// get is the value of a key, or nil.
func (t tree[K, V]) get(hash uint64, key K) *V {
	for b, rest := t.root, hash; b != nil; rest >>= branchBits {
		s := &b.slots[rest%branches]
		for i := range s.items {
			if it := &s.items[i]; it.hash == hash && it.key == key {
				return &it.value
			}
		}
		b = s.below
	}
	return nil
}

// put gives the tree with a value.
func (t tree[K, V]) put(e *edit, hash uint64, key K, value V) tree[K, V] {
	return tree[K, V]{root: t.root.put(e, 0, item[K, V]{hash: hash, key: key, value: value})}
}

func (b *branch[K, V]) put(e *edit, depth uint, it item[K, V]) *branch[K, V] {
	b = b.mine(e)
	s := &b.slots[it.hash>>depth%branches]
	if s.below != nil {
		s.below = s.below.put(e, depth+branchBits, it)
		return b
	}
	// Items may be shared with a tree that somebody reads, so they are copied always.
	items := slices.DeleteFunc(slices.Clone(s.items), func(have item[K, V]) bool { return have.key == it.key })
	items = append(items, it)
	if len(items) <= leafItems || depth+branchBits >= hashBits {
		s.items = items
		return b
	}
	s.items = nil
	for _, it := range items {
		s.below = s.below.put(e, depth+branchBits, it)
	}
	return b
}

// mine is the branch itself where this edit made it, else a copy.
func (b *branch[K, V]) mine(e *edit) *branch[K, V] {
	switch {
	case b == nil:
		return &branch[K, V]{edit: e}
	case b.edit == e:
		return b
	}
	c := *b
	c.edit = e
	return &c
}
