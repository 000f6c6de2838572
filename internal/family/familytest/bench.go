package familytest

import (
	"context"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/watch"
)

// Bench is a chain under test with its levers. Its methods fail the test
// themselves when a lever does not move. The account "hot" is funded, all of it
// final, with coins enough for twenty transfers of Amount.
type Bench interface {
	ID() chain.ID
	Ports() Ports
	Powers() Powers
	Levers
	Truth
}

// Keeper is a bench whose deposit addresses are ours.
type Keeper interface {
	// Deposit is the deposit address with an index, which nobody has paid to yet.
	Deposit(index uint32) chain.Address
}

// Ports are what is tested.
type Ports struct {
	Reader  watch.Reader
	Mempool watch.Mempool // nil if the chain shows none
	Sender  send.Chain
	Scales  Scales
}

// Scales say what there is, for whoever compares the books with the chain.
type Scales interface {
	// Balances are what lies on each spot at a final block of the branch.
	Balances(ctx context.Context, spots []chain.Spot, at chain.Block) ([]money.Amount, error)
}

// Powers are what the chain can do.
type Powers struct {
	Token      chain.Asset  // a listed token; zero if it has none
	Amount     money.Amount // a payment of ordinary size, of the chain's own coin
	Budget     money.Amount // a fee that is enough for a transfer and for bumping it eight times over
	FinalDepth int          // how many blocks make one final
	Bumps      bool         // a waiting transaction can be replaced at once
	Expires    bool         // a transaction can land only for a while
	Reverts    bool         // a transaction can land and fail
	Gaps       bool         // heights can be left out
	DeepReorgs bool         // what was final can be orphaned
	Faults     bool         // its nodes can be broken one by one
	Sweeps     bool         // deposit addresses can be emptied; the bench is a Keeper
	Calls      bool         // contracts can be called; the bench is a Trader
	Nodes      int
	Quorum     int
	// Sums: what one transaction pays to one address of the chain's own coin is one
	// deposit, because the chain shows only how a balance changed.
	Sums bool
	// Foresees: a transfer that would fail is refused before it is signed.
	Foresees bool
	// Worlds is how many random worlds are played, for chains on which a block takes
	// milliseconds; zero is the full number.
	Worlds int
	// NoForks: what stands in a block stays there, as on a local node that is alone.
	NoForks bool
	// Hidden: no node tells what waits, so an attempt is missing until it is in a block.
	Hidden bool
}

// Ager is a bench on which attempts expire by a count that is not the height, as where
// heights have gaps and blocks are counted too.
type Ager interface {
	// Age is that count at the final block.
	Age() uint64
}

// Levers move the chain.
type Levers interface {
	Mine(n int)      // blocks with what waits
	MineEmpty(n int) // blocks without it
	// Reorg orphans the newest blocks for a longer branch of empty ones. What stood
	// in them waits again, or is lost.
	Reorg(depth int, lose bool)
	Skip(n int) // leaves out heights
	// Evict makes the whole network forget a waiting transaction.
	Evict(tx chain.TxID)
	// Price makes the going price k times what it was at the start.
	Price(k uint64)
	// Pay sends a payment of a stranger.
	Pay(p Payment) chain.TxID
	// Divert replaces a waiting payment by one that pays none of its recipients.
	Divert(tx chain.TxID) chain.TxID
	// Usurp uses up what an attempt needs, by a transaction of somebody else who
	// has our key, at a price that wins.
	Usurp(a chain.Attempt) chain.TxID
	// Reject makes every transfer to an address fail on the chain.
	Reject(to chain.Address)
	// Break makes a node misbehave from now on.
	Break(node int, t Trouble)
}

// Payment is what a stranger sends.
type Payment struct {
	From string
	Outs []Out
	Kind PaymentKind
}

// Out is one transfer of a payment.
type Out struct {
	To     chain.Address
	Asset  chain.Asset
	Amount money.Amount
}

// PaymentKind is how a payment is made.
type PaymentKind uint8

// The kinds of payments.
const (
	Plain    PaymentKind = iota
	Contract             // by a contract the stranger calls
	Failing              // it lands and fails
	Foreign              // in a token that is not listed; the asset is ignored
)

// Trouble is how a node misbehaves.
type Trouble uint8

// The troubles.
const (
	None       Trouble = iota
	Down               // it cannot be reached
	Deaf               // it does what it is told, and answers with an error
	Behind             // it answers from some blocks ago
	Forging            // it shows payments, blocks and state that are not there
	Hiding             // it hides what is there, and swallows broadcasts
	Forgetting         // it knows no transaction
	Hasty              // it calls everything final
	Stuttering         // it shows and does everything twice
	Shuffling          // it lists in another order
)

// Truth is what really is on the chain, not seen through the ports.
type Truth interface {
	// Address is an address that nobody has used, the same for the same name.
	Address(name string) chain.Address
	Balance(a chain.Address, asset chain.Asset) money.Amount
	// Received are the payments to an address on the canonical branch.
	Received(a chain.Address) []chain.Deposit
	// Landed reports whether a transaction is on the canonical branch.
	Landed(tx chain.TxID) bool
}
