package integrator

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// ID names an integrator; empty is nobody.
type ID string

// Status says whether an integrator's keys open anything.
type Status string

// The statuses.
const (
	Active    Status = "active"
	Suspended Status = "suspended"
)

// Integrator is a company that builds on the service.
type Integrator struct {
	ID                   ID
	Name                 string
	Status               Status
	Version              int64 // rises with every change of it
	CreatedAt, UpdatedAt time.Time

	Limits          Limits
	Window          time.Duration // within which unfinished orders count
	Forwarding      Forwarding
	Fees            FeePolicy
	AttributionDays int
	// NoPoints: orders that are made with its keys earn no points, neither for their
	// owners nor for it.
	NoPoints bool
}

// Limits are a company's, per minute but for OpenOrders. Zero disables one.
type Limits struct{ Requests, Quotes, Creates, OpenOrders int64 }

// ClientLimits are those of one end user of a company.
type ClientLimits struct{ Requests, Creates, OpenOrders int64 }

// Forwarding is whether a backend may say for whom it asks, and from where.
type Forwarding struct {
	Enabled bool
	Egress  []netip.Prefix // approved servers, each as narrow as one address if wanted
	Limits  ClientLimits
}

// MaxFee is the highest fee an integrator may take.
const MaxFee = 5 * money.Whole / 100

// FeePolicy is what an integrator earns by default, and where it is paid.
type FeePolicy struct {
	Default money.Percent
	PayTo   map[chain.Family]chain.Address
}

// What a company begins with.
var (
	DefaultLimits       = Limits{Requests: 600, Quotes: 300, Creates: 60, OpenOrders: 200}
	DefaultClientLimits = ClientLimits{Requests: 60, Creates: 10, OpenOrders: 5}
)

// What a key and the windows of a company begin with.
const (
	DefaultKeyRequests     = 300
	DefaultWindow          = 2 * time.Hour
	DefaultAttributionDays = 30
)

// Bounds of what may be set.
const (
	maxLimit  = 1_000_000_000
	maxName   = 100
	maxEgress = 256
	maxWindow = 30 * 24 * time.Hour
	maxDays   = 365
)

// ErrRefused is in every refusal of an integrator or a key.
var ErrRefused = errors.New("integrator: refused")

// Problem is what is wrong with one field.
type Problem struct{ Field, Why string }

func (p *Problem) Error() string { return p.Field + ": " + p.Why }

// Unwrap makes a problem an ErrRefused.
func (p *Problem) Unwrap() error { return ErrRefused }

func refuse(field, why string, args ...any) error {
	return &Problem{Field: field, Why: fmt.Sprintf(why, args...)}
}

// Check refuses an integrator that could not be served, naming the first field
// that is wrong.
func (i Integrator) Check() error {
	if err := CheckName("name", i.Name); err != nil {
		return err
	}
	if i.Status != Active && i.Status != Suspended {
		return refuse("status", "%q is neither active nor suspended", i.Status)
	}
	for _, l := range []struct {
		field string
		n     int64
	}{
		{"limits.requestLimitPerMin", i.Limits.Requests},
		{"limits.quoteLimitPerMin", i.Limits.Quotes},
		{"limits.createLimitPerMin", i.Limits.Creates},
		{"limits.maxOpenOrders", i.Limits.OpenOrders},
		{"clientIpForwarding.limits.requestLimitPerMin", i.Forwarding.Limits.Requests},
		{"clientIpForwarding.limits.createLimitPerMin", i.Forwarding.Limits.Creates},
		{"clientIpForwarding.limits.maxOpenOrders", i.Forwarding.Limits.OpenOrders},
	} {
		if err := CheckLimit(l.field, l.n); err != nil {
			return err
		}
	}
	if i.Window < time.Minute || i.Window > maxWindow || i.Window%time.Minute != 0 {
		return refuse("openOrderWindowMinutes", "must be whole minutes from 1 to %d", int(maxWindow/time.Minute))
	}
	if i.AttributionDays < 1 || i.AttributionDays > maxDays {
		return refuse("attribution.windowDays", "must be from 1 to %d", maxDays)
	}
	if err := i.Forwarding.check(); err != nil {
		return err
	}
	return i.Fees.check()
}

// CheckLimit refuses a limit that is no limit.
func CheckLimit(field string, n int64) error {
	if n < 0 || n > maxLimit {
		return refuse(field, "must be from 0, which disables it, to %d", maxLimit)
	}
	return nil
}

// CheckName refuses a name that nobody could read.
func CheckName(field, s string) error {
	switch {
	case strings.TrimSpace(s) == "" || s != strings.TrimSpace(s):
		return refuse(field, "must not be empty or begin or end with a blank")
	case !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxName:
		return refuse(field, "must be at most %d characters of UTF-8", maxName)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return refuse(field, "must have printable characters only")
	}
	return nil
}

func (f Forwarding) check() error {
	const field = "clientIpForwarding.egress"
	if f.Enabled && len(f.Egress) == 0 {
		return refuse(field, "is empty, which forwarding can not be enabled with; approve the address of at least one server, or disable forwarding")
	}
	if len(f.Egress) > maxEgress {
		return refuse(field, "has more than %d entries", maxEgress)
	}
	for _, p := range f.Egress {
		switch {
		case !p.IsValid() || p != p.Masked() || p.Addr().Zone() != "" || p.Addr().Is4In6():
			return refuse(field, "%s is not a plain network such as 203.0.113.7/32", p)
		case p.Bits() < 8 || (p.Addr().Is6() && p.Bits() < 32):
			return refuse(field, "%s would approve far more than a company's servers", p)
		}
	}
	return nil
}

// Approves reports whether a server may forward.
func (f Forwarding) Approves(peer netip.Addr) bool {
	if !f.Enabled {
		return false
	}
	peer = peer.Unmap()
	for _, p := range f.Egress {
		if p.Contains(peer) {
			return true
		}
	}
	return false
}

func (f FeePolicy) check() error {
	if f.Default < 0 || f.Default > MaxFee {
		return refuse("defaultFeePercent", "must be from 0 to %s", MaxFee)
	}
	for _, family := range slices.Sorted(maps.Keys(f.PayTo)) {
		to, field := f.PayTo[family], "payoutAddresses."+string(family)
		switch family {
		case chain.EVM, chain.Solana, chain.Bitcoin:
		default:
			return refuse(field, "is not one of the families evm, solana and bitcoin")
		}
		if to.IsZero() || to.Family() != family {
			return refuse(field, "is not an address of that family")
		}
	}
	return nil
}
