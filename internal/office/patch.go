package office

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
)

// Patch is what to change of an integrator; what is nil stays as it is.
type Patch struct {
	// Version is the version that the change was made for; zero is whatever is there.
	Version         int64
	Name            *string
	Status          *integrator.Status
	Limits          Limits
	Window          *time.Duration
	AttributionDays *int
	NoPoints        *bool
	Fees            Fees
	Forwarding      Forwarding
}

// Limits are those of a company that are to be set.
type Limits struct{ Requests, Quotes, Creates, OpenOrders *int64 }

// ClientLimits are those of one end user that are to be set.
type ClientLimits struct{ Requests, Creates, OpenOrders *int64 }

// Fees is what an integrator is to earn, and where it is to be paid. An empty
// address takes the family's address away.
type Fees struct {
	Default *money.Percent
	PayTo   map[chain.Family]string
}

// Forwarding is what to change about who may forward. Networks are written as
// 203.0.113.0/24, or as one address.
type Forwarding struct {
	Enabled         *bool
	Replace         *[]string // all approved servers anew
	Approve, Remove []string
	Limits          ClientLimits
}

// SetLimits sets limits of a company.
func (o *Office) SetLimits(ctx context.Context, id integrator.ID, l Limits, by string) (integrator.Integrator, error) {
	return o.Change(ctx, id, Patch{Limits: l}, by)
}

// SetWindow sets within how long unfinished orders count.
func (o *Office) SetWindow(ctx context.Context, id integrator.ID, d time.Duration, by string) (integrator.Integrator, error) {
	return o.Change(ctx, id, Patch{Window: &d}, by)
}

// SetAttribution sets over how many days attribution is reported.
func (o *Office) SetAttribution(ctx context.Context, id integrator.ID, days int, by string) (integrator.Integrator, error) {
	return o.Change(ctx, id, Patch{AttributionDays: &days}, by)
}

// SetFees sets the default fee and where fees are paid.
func (o *Office) SetFees(ctx context.Context, id integrator.ID, f Fees, by string) (integrator.Integrator, error) {
	return o.Change(ctx, id, Patch{Fees: f}, by)
}

// SetForwarding sets who may forward end users' addresses, and their limits.
func (o *Office) SetForwarding(ctx context.Context, id integrator.ID, f Forwarding, by string) (integrator.Integrator, error) {
	return o.Change(ctx, id, Patch{Forwarding: f}, by)
}

// Suspend makes the keys of an integrator open nothing.
func (o *Office) Suspend(ctx context.Context, id integrator.ID, by string) (integrator.Integrator, error) {
	s := integrator.Suspended
	return o.Change(ctx, id, Patch{Status: &s}, by)
}

// Resume makes the keys of a suspended integrator open again what they did.
func (o *Office) Resume(ctx context.Context, id integrator.ID, by string) (integrator.Integrator, error) {
	s := integrator.Active
	return o.Change(ctx, id, Patch{Status: &s}, by)
}

// isEmpty reports whether nothing is to be changed.
func (p Patch) isEmpty() bool {
	p.Version = 0
	return reflect.ValueOf(p).IsZero()
}

func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}

// apply is the integrator after the patch; its lists and maps are its own.
func (p Patch) apply(i integrator.Integrator, codecs Codecs) (integrator.Integrator, error) {
	if p.isEmpty() {
		return i, errEmptyPatch
	}
	set(&i.Name, p.Name)
	set(&i.Status, p.Status)
	set(&i.Limits.Requests, p.Limits.Requests)
	set(&i.Limits.Quotes, p.Limits.Quotes)
	set(&i.Limits.Creates, p.Limits.Creates)
	set(&i.Limits.OpenOrders, p.Limits.OpenOrders)
	set(&i.Window, p.Window)
	set(&i.AttributionDays, p.AttributionDays)
	set(&i.NoPoints, p.NoPoints)
	set(&i.Fees.Default, p.Fees.Default)
	var err error
	if i.Fees.PayTo, err = p.Fees.payTo(i.Fees.PayTo, codecs); err != nil {
		return i, err
	}
	f := p.Forwarding
	set(&i.Forwarding.Enabled, f.Enabled)
	set(&i.Forwarding.Limits.Requests, f.Limits.Requests)
	set(&i.Forwarding.Limits.Creates, f.Limits.Creates)
	set(&i.Forwarding.Limits.OpenOrders, f.Limits.OpenOrders)
	i.Forwarding.Egress, err = f.egress(i.Forwarding.Egress)
	return i, err
}

func (f Fees) payTo(was map[chain.Family]chain.Address, codecs Codecs) (map[chain.Family]chain.Address, error) {
	now := maps.Clone(was)
	for _, family := range slices.Sorted(maps.Keys(f.PayTo)) {
		text, field := f.PayTo[family], "payoutAddresses."+clip(string(family))
		switch family {
		case chain.EVM, chain.Solana, chain.Bitcoin:
		default:
			return nil, badField(field, "is not one of the families evm, solana and bitcoin")
		}
		if text == "" {
			delete(now, family)
			continue
		}
		to, err := codecs.Parse(family, text)
		if err != nil {
			return nil, badField(field, "is not an address of that family; give one that the integrator wrote down, letter for letter").Because(err)
		}
		if now == nil {
			now = map[chain.Family]chain.Address{}
		}
		now[family] = to
	}
	if len(now) == 0 {
		return nil, nil
	}
	return now, nil
}

const egressField = "clientIpForwarding.egress"

// egress is the list of approved servers after the change, sorted and each once.
func (f Forwarding) egress(was []netip.Prefix) ([]netip.Prefix, error) {
	now := slices.Clone(was)
	if f.Replace != nil {
		if len(f.Approve)+len(f.Remove) > 0 {
			return nil, badField(egressField, "is given whole and in parts; give all servers, or those to approve and to remove")
		}
		now = nil
		f.Approve = *f.Replace
	}
	for _, text := range f.Approve {
		p, err := network(text)
		if err != nil {
			return nil, err
		}
		now = append(now, p)
	}
	for _, text := range f.Remove {
		p, err := network(text)
		if err != nil {
			return nil, err
		}
		listed := slices.Contains(now, p)
		now = slices.DeleteFunc(now, func(o netip.Prefix) bool { return o == p })
		for _, o := range now { // else the operator would think that it is shut out
			if o.Overlaps(p) && (!listed || o.Bits() < p.Bits()) {
				return nil, badField(egressField, "%s would still be approved in part by %s; remove that one, and approve again what is to stay", p, o)
			}
		}
	}
	slices.SortFunc(now, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	if now = slices.Compact(now); len(now) == 0 {
		return nil, nil
	}
	return now, nil
}

// network reads a network, or an address as the network of it alone.
func network(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, badField(egressField, "%q is neither an address nor a network such as 203.0.113.0/24", clip(text))
	}
	if p != p.Masked() {
		return p, badField(egressField, "%s has bits beyond its length; write %s, or the address alone", p, p.Masked())
	}
	return p, nil
}
