package ledger

import (
	"strings"

	"ferry/internal/chain"
	"ferry/internal/integrator"
)

// Account is a name in the books: a kind, or a kind and whom it is for.
type Account string

// Accounts of the whole service. The balance of an account is its debits less
// its credits: what we have is above zero, what we owe is below.
const (
	Capital    Account = "capital"    // what the operator put in
	Liquidity  Account = "liquidity"  // the two sides of exchanges
	Revenue    Account = "revenue"    // what the service earned
	Unclaimed  Account = "unclaimed"  // money that nobody can be paid: dust, failed refunds
	ReorgLoss  Account = "reorg_loss" // deposits that were believed final and vanished
	NetworkFee Account = "network"    // what chains took for our transactions
)

// Deposits is what lies on the deposit addresses of a chain. It stands below zero
// while a chain has taken back a deposit whose sweep is still believed to have landed.
func Deposits(id chain.ID) Account { return Account("deposits:" + string(id)) }

// Hot is what lies in the wallet that pays on a chain.
func Hot(id chain.ID) Account { return Account("hot:" + string(id)) }

// TakenBack stands below zero by what a chain took back of payments that had come
// straight into the wallet: together with Hot it is what lies there. Such a loss must be
// booked whatever the wallet has, and Hot never stands below zero.
func TakenBack(id chain.ID) Account { return Account("taken_back:" + string(id)) }

// Owed is what an order's user is owed.
func Owed(order string) Account { return Account("owed:" + order) }

// Recovery is what came to an order's address beside the order.
func Recovery(order string) Account { return Account("recovery:" + order) }

// Fees is what an integrator has earned and not yet been paid.
func Fees(id integrator.ID) Account { return Account("fees:" + string(id)) }

// Kind is the part of the name before the colon.
func (a Account) Kind() string {
	kind, _, _ := strings.Cut(string(a), ":")
	return kind
}

// Side says on which side of zero an account must stay.
type Side int8

// The sides.
const (
	AnySide    Side = iota // may be above or below zero
	DebitSide              // what we have: never below zero
	CreditSide             // what we owe: never above zero
)

// Side is where the account must stay after every change.
func (a Account) Side() Side {
	switch a.Kind() {
	case "hot", "network":
		return DebitSide
	case "owed", "recovery", "fees", "unclaimed", "capital":
		return CreditSide
	default:
		return AnySide
	}
}
