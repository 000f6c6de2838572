package access

import "slices"

// A tree is a map that is never changed: putting gives another one that shares all
// but one path with it. Readers therefore need no lock, and a change among many keys
// costs the length of a path, not the number of keys.
type tree[K comparable, V any] struct{ root *node[K, V] }

const (
	branchBits = 5
	branches   = 1 << branchBits
	leafItems  = 8
	hashBits   = 64
)

// node is a branch, which has kids, or a leaf, which has items.
type node[K comparable, V any] struct {
	edit  *edit
	kids  *[branches]*node[K, V]
	items []item[K, V]
}

type item[K comparable, V any] struct {
	hash  uint64
	key   K
	value *V
}

// An edit marks the nodes that were made for one change and that nobody has seen
// yet, so that many puts of one change copy a path once.
type edit struct{ _ byte }

// get is the value of a key, or nil.
func (t tree[K, V]) get(hash uint64, key K) *V {
	n := t.root
	for rest := hash; n != nil; rest >>= branchBits {
		if n.kids == nil {
			break
		}
		n = n.kids[rest%branches]
	}
	if n == nil {
		return nil
	}
	for i := range n.items {
		if it := &n.items[i]; it.hash == hash && it.key == key {
			return it.value
		}
	}
	return nil
}

// put gives the tree with a value.
func (t tree[K, V]) put(e *edit, hash uint64, key K, value *V) tree[K, V] {
	return tree[K, V]{root: t.root.put(e, 0, item[K, V]{hash: hash, key: key, value: value})}
}

func (n *node[K, V]) put(e *edit, depth uint, it item[K, V]) *node[K, V] {
	if n == nil {
		return &node[K, V]{edit: e, items: []item[K, V]{it}}
	}
	n = n.mine(e)
	if n.kids != nil {
		i := it.hash >> depth % branches
		n.kids[i] = n.kids[i].put(e, depth+branchBits, it)
		return n
	}
	if i := slices.IndexFunc(n.items, func(have item[K, V]) bool { return have.key == it.key }); i >= 0 {
		n.items[i] = it
		return n
	}
	if n.items = append(n.items, it); len(n.items) <= leafItems || depth+branchBits > hashBits {
		return n
	}
	branch := &node[K, V]{edit: e, kids: new([branches]*node[K, V])}
	for _, it := range n.items {
		i := it.hash >> depth % branches
		branch.kids[i] = branch.kids[i].put(e, depth+branchBits, it)
	}
	return branch
}

// mine is the node itself where this edit made it, else a copy.
func (n *node[K, V]) mine(e *edit) *node[K, V] {
	if n.edit == e {
		return n
	}
	c := &node[K, V]{edit: e, items: slices.Clone(n.items)}
	if n.kids != nil {
		kids := *n.kids
		c.kids = &kids
	}
	return c
}
