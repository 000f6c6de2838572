package chain

// Proof shows what a contract had stored in a block: from the root of the block's state
// to the root of the contract's store, and from there to the place that was asked for.
type Proof struct {
	Block   Block
	State   Word // the root of the block's state
	Storage Word // the root of what the contract stores
	Slot    Word
	Value   Word
	Nodes   [][]byte // of the tree under Storage, from its root to the place
}
