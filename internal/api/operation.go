package api

import (
	"time"

	"ferry/internal/api/contract"
)

// The words of a row that the contract shares.
type (
	// Need says which key an operation wants.
	Need = contract.Need
	// Proof says what an operation wants to see before it touches one order.
	Proof = contract.Proof
	// Param is a query parameter that an operation knows.
	Param = contract.Param
	// Form is a further form of an answer.
	Form = contract.Form
)

// Needs, proofs and kinds of parameters, named here so that rows read well.
const (
	NoKey       = contract.NoKey
	OptionalKey = contract.OptionalKey
	ServerKey   = contract.ServerKey

	NoProof   = contract.NoProof
	ReadProof = contract.ReadProof
	ActProof  = contract.ActProof

	TextParam  = contract.TextParam
	WholeParam = contract.WholeParam
	FlagParam  = contract.FlagParam
)

// Spend is what an operation takes from its caller's allowances.
type Spend uint8

// What can be spent. A create or a quote is also a request. Nothing at all means
// that no limit applies.
const (
	Requests Spend = 1 << iota
	Quotes
	Creates
)

// Operation is one row of the table.
type Operation struct {
	// ID is the operation's name in the contract, Path its template, such as
	// /v2/orders/{orderId}. Paths below /v2/ are in a contract, others in none.
	ID, Method, Path          string
	Summary, Description, Tag string

	Key   Need
	Proof Proof // what the row's Do will ask Call.Proof for
	// Spends is taken before the query and the body are looked at.
	Spends Spend
	// Idempotent rows take the header Idempotency-Key, which their Do reads.
	Idempotent bool

	// In and Out are zero wire values, In nil for no body. The schema is read off them.
	In, Out any
	// Produces is the media type of the answer where it is not JSON.
	Produces string
	// Forms are what the answer also comes in, where Accept prefers it to JSON; Do asks
	// Call.Form which was chosen. What is in none of them is refused.
	Forms []Form
	// Query are the parameters the row knows; any other is refused.
	Query []Param
	// Codes are the refusals that Do may answer; those of the door are added.
	Codes []string
	// Hidden rows are served and described to server keys only.
	Hidden bool
	// Status of a good answer; 200 if zero.
	Status int
	// Cache is how long anybody may keep a good answer; zero is not at all.
	Cache time.Duration

	// Do does the work. The value becomes the body; the error should be a fault. A row
	// whose Status is 101 answers a Switch, and only such a row.
	Do func(*Call) (any, error)
}

// describe is the row as the contract says it.
func (o *Operation) describe() contract.Operation {
	return contract.Operation{
		ID: o.ID, Method: o.Method, Path: o.Path,
		Summary: o.Summary, Description: o.Description, Tag: o.Tag,
		Key: o.Key, Proof: o.Proof, Limited: o.Spends != 0, Idempotent: o.Idempotent,
		In: o.In, Out: o.Out, Produces: o.Produces, Forms: o.Forms, Query: o.Query, Codes: o.Codes, Status: o.Status, Cache: o.Cache,
	}
}
