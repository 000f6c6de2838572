package chain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"ferry/internal/money"
)

// Family is a kind of chain with its own addresses and transactions.
type Family string

// The families that carry integrator fees; every other chain is Other.
const (
	EVM     Family = "evm"
	Solana  Family = "solana"
	Bitcoin Family = "bitcoin"
	Other   Family = "other"
)

// ID names a chain, as CAIP-2: "eip155:1".
type ID string

// Asset is a coin or token on one chain. An empty Ref is the chain's own coin.
type Asset struct {
	Chain ID
	Ref   string
}

// Native is the chain's own coin, in which its fees are paid.
func (id ID) Native() Asset { return Asset{Chain: id} }

// IsNative reports whether a is its chain's own coin.
func (a Asset) IsNative() bool { return a.Ref == "" }

// String is "chain/ref", or "chain/native" for the chain's own coin.
func (a Asset) String() string {
	if a.Ref == "" {
		return string(a.Chain) + "/native"
	}
	return string(a.Chain) + "/" + a.Ref
}

// ParseAsset reads what String writes.
func ParseAsset(s string) (Asset, error) {
	id, ref, ok := strings.Cut(s, "/")
	if !ok || id == "" || ref == "" {
		return Asset{}, fmt.Errorf("asset %q: want chain/token or chain/native", s)
	}
	if ref == "native" {
		ref = ""
	}
	return Asset{Chain: ID(id), Ref: ref}, nil
}

// Address is an address in its family's canonical form. Only a family's codec
// and the store, which keeps what a codec made, may make one.
type Address struct {
	family Family
	text   string
}

// CanonicalAddress is for codecs and stores: text must already be canonical.
func CanonicalAddress(f Family, text string) Address { return Address{family: f, text: text} }

// Family is the family whose codec made the address.
func (a Address) Family() Family { return a.family }

// Text is the canonical form.
func (a Address) Text() string { return a.text }

// IsZero reports whether there is no address.
func (a Address) IsZero() bool { return a.text == "" }

// Spot is an asset on an address.
type Spot struct {
	Address Address
	Asset   Asset
}

// TxID names a transaction on its chain.
type TxID string

// Block is a place in a chain's history.
type Block struct {
	Height uint64
	Hash   string
	Parent string
	Time   time.Time
}

// IsZero reports whether b is no block, as of a payment still in a mempool.
func (b Block) IsZero() bool { return b.Hash == "" }

// Head is how far a chain is: Tip may be orphaned, Final may not.
type Head struct{ Tip, Final Block }

// DepositID names one payment on one chain, the same in every scan.
type DepositID string

// Deposit is a payment to an address. Its Block is zero while it waits in a mempool.
type Deposit struct {
	ID     DepositID
	To     Address
	Asset  Asset
	Amount money.Amount
	Tx     TxID
	Block  Block
}

// Account names one of our own wallets on a chain, such as "hot".
type Account string

// Call is what we ask a chain to do: a payment from an account, or, with Sources,
// bringing home what lies on deposit addresses.
type Call struct {
	Chain  ID
	From   Account
	To     Address
	Asset  Asset
	Amount money.Amount
	// Sources are the deposit addresses that are emptied into the account: To is
	// then the account's own address and Amount what they have together.
	Sources []Source
	// Data calls the contract at To: Amount of Asset is then what may leave the account
	// by it, and may be nothing. Only a venue writes it, and only a signer's list of
	// contracts lets it be signed.
	Data []byte
	// For is the transfer that asks for it: what a signer looks up before it signs.
	For string
}

// Source is a deposit address with what is brought home from it.
type Source struct {
	Address  Address
	Index    uint32 // of its key
	Amount   money.Amount
	Deposits []DepositID
}

// Same reports whether two calls ask for the same, whoever asks.
func (c Call) Same(d Call) bool {
	return c.Chain == d.Chain && c.From == d.From && c.To == d.To && c.Asset == d.Asset && c.Amount == d.Amount &&
		bytes.Equal(c.Data, d.Data) && slices.EqualFunc(c.Sources, d.Sources, func(a, b Source) bool {
		return a.Address == b.Address && a.Index == b.Index && a.Amount == b.Amount && slices.Equal(a.Deposits, b.Deposits)
	})
}

// Attempt is one signed transaction for a call.
type Attempt struct {
	Tx      TxID
	Raw     []byte
	Slots   []Slot
	Fee     money.Amount // the most it can cost, in the chain's own coin
	Expires uint64       // height from which it can no longer land; 0 is never
}

// Fate is what became of an attempt.
type Fate uint8

// The fates. Only Final, Reverted and Dead are for good.
const (
	Missing  Fate = iota // no node knows it
	Pending              // in a mempool
	Included             // in a block that may still be orphaned
	Final                // done, for good
	Reverted             // final, and it failed on chain
	Dead                 // it can never land: expired, or its slots are spent by another
)

var fateNames = [...]string{"missing", "pending", "included", "final", "reverted", "dead"}

func (f Fate) String() string {
	if int(f) < len(fateNames) {
		return fateNames[f]
	}
	return fmt.Sprintf("fate(%d)", uint8(f))
}

// Settled reports whether a fate can never change again. A fate that nobody knows
// is not settled.
func (f Fate) Settled() bool { return f >= Final && f <= Dead }

// Status is the fate of an attempt with where it landed and what it cost.
type Status struct {
	Fate  Fate
	Block Block        // where it stands, when Included, Final or Reverted
	Fee   money.Amount // what it cost in the chain's own coin, when it landed
}
