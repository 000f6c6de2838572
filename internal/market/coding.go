package market

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// errCoding: the bytes are not an offer.
var errCoding = errors.New("market: not an offer")

// packer writes values one after the other; unpacker reads them in the same order.
// What one writes the other must read: a test fills every field and compares.
type packer struct {
	b    []byte
	said [maxSaid]string // texts that were written, to which later ones refer
	n    int
}

// Texts begin with how long they are. Below zero is one that needs less room: an address
// of 20 bytes that is written in lower case, or a text that was there before.
const (
	hexText = -1
	backTo  = -2 // the first; the next is one less
	maxSaid = 24
)

// repeats reports whether a text is worth referring to.
func repeats(s string) bool { return len(s) > 2 }

func (p *packer) num(n int64) { p.b = binary.AppendVarint(p.b, n) }

func (p *packer) text(s string) {
	if repeats(s) {
		for i := range p.n {
			if p.said[i] == s {
				p.num(int64(backTo - i))
				return
			}
		}
		if p.n < maxSaid {
			p.said[p.n] = s
			p.n++
		}
	}
	if raw, ok := rawAddress(s); ok {
		p.num(hexText)
		p.b = append(p.b, raw[:]...)
		return
	}
	p.num(int64(len(s)))
	p.b = append(p.b, s...)
}

func (p *packer) raw(b []byte) { p.num(int64(len(b))); p.b = append(p.b, b...) }

const hexPrefix = "0x"

// rawAddress is a text as the 20 bytes that it is written of, if it is.
func rawAddress(s string) (raw [20]byte, ok bool) {
	digits, ok := strings.CutPrefix(s, hexPrefix)
	if !ok || len(digits) != 2*len(raw) || strings.ContainsAny(digits, "ABCDEF") {
		return raw, false
	}
	_, err := hex.Decode(raw[:], []byte(digits))
	return raw, err == nil
}

func (p *packer) flag(f bool) {
	if f {
		p.num(1)
	} else {
		p.num(0)
	}
}

// amount is as many bytes as it needs, the highest first.
func (p *packer) amount(a money.Amount) {
	n := uint256.Int(a.Words())
	all, size := n.Bytes32(), n.ByteLen()
	p.b = append(append(p.b, byte(size)), all[len(all)-size:]...)
}

func (p *packer) asset(a chain.Asset) { p.text(string(a.Chain)); p.text(a.Ref) }

func (p *packer) address(a chain.Address) { p.text(string(a.Family())); p.text(a.Text()) }

func (p *packer) listed(a *Asset) {
	p.asset(a.Asset)
	p.text(a.Symbol)
	p.num(int64(a.Decimals))
	p.amount(a.Dust)
}

func (p *packer) offer(o *Offer) {
	q := &o.Quote
	p.listed(&o.Give)
	p.listed(&o.Get)
	for _, a := range [...]*money.Amount{&q.In, &q.Out, &q.MinIn, &q.MaxIn, &o.MinOut, &o.MaxFrom} {
		p.amount(*a)
	}
	p.text(string(q.Mode))
	p.text(string(o.Side))
	p.text(o.Venue)
	p.num(int64(q.Tolerance.Under))
	p.num(int64(q.Tolerance.Over))
	for _, a := range [...]quote.Action{q.Tolerance.UnderAction, q.Tolerance.OverAction, q.Tolerance.WrongAsset} {
		p.text(string(a))
	}
	for _, n := range [...]int64{
		int64(q.USD), int64(o.GiveUSD), int64(o.GetUSD), int64(o.NetworkUSD), int64(o.ServiceUSD),
		int64(o.Slippage), int64(o.Impact), int64(o.Unpaid), int64(o.Takes), int64(o.Confirmations),
		q.ExpiresAt.UnixMicro(), o.CreatedAt.UnixMicro(),
	} {
		p.num(n)
	}
	p.num(int64(q.Toll.Share))
	p.amount(q.Toll.Flat)
	p.num(int64(len(q.Steps)))
	for _, s := range q.Steps {
		p.text(s.Venue)
		p.asset(s.In)
		p.asset(s.Out)
		p.amount(s.Give)
		p.amount(s.Bring)
		p.amount(s.MinOut)
		p.raw(s.Plan)
	}
	p.earning(o.Earning)
	p.address(o.PayFrom)
}

func (p *packer) earning(e *Earning) {
	p.flag(e != nil)
	if e == nil {
		return
	}
	p.num(int64(e.Percent))
	p.amount(e.Amount)
	p.num(int64(e.USD))
	p.num(int64(e.TransferUSD))
	p.address(e.PayTo)
	p.text(string(e.Family))
	p.text(string(e.Origin))
	p.flag(e.Skipped)
}

// unpacker remembers that something did not fit and gives zeros from then on.
type unpacker struct {
	b    []byte
	bad  bool
	said []string
}

func (u *unpacker) num() int64 {
	n, size := binary.Varint(u.b)
	if size <= 0 {
		u.b, u.bad = nil, true
		return 0
	}
	u.b = u.b[size:]
	return n
}

// small is a number that must fit 32 bits, as percents do.
func (u *unpacker) small() int32 {
	n := u.num()
	if n != int64(int32(n)) {
		u.bad = true
	}
	return int32(n)
}

func (u *unpacker) flag() bool {
	n := u.num()
	if n != 0 && n != 1 {
		u.bad = true
	}
	return n == 1
}

func (u *unpacker) text() string {
	n := u.num()
	if n <= backTo {
		if at := backTo - n; at < int64(len(u.said)) {
			return u.said[at]
		}
		u.b, u.bad = nil, true
		return ""
	}
	var s string
	if n == hexText {
		s = hexPrefix + hex.EncodeToString(u.take(20))
	} else {
		s = string(u.take(n))
	}
	if repeats(s) && len(u.said) < maxSaid {
		u.said = append(u.said, s)
	}
	return s
}

func (u *unpacker) raw() []byte { return u.take(u.num()) }

// take is the next bytes; none where there are not so many.
func (u *unpacker) take(n int64) []byte {
	if n < 0 || n > int64(len(u.b)) {
		u.b, u.bad = nil, true
		return nil
	}
	b := u.b[:n]
	u.b = u.b[n:]
	return b
}

func (u *unpacker) amount() money.Amount {
	size := u.take(1)
	if len(size) == 0 || size[0] > 32 {
		u.b, u.bad = nil, true
		return money.Amount{}
	}
	b := u.take(int64(size[0]))
	if len(b) > 0 && b[0] == 0 {
		u.bad = true
	}
	var n uint256.Int
	return money.FromWords(*n.SetBytes(b))
}

func (u *unpacker) asset() chain.Asset { return chain.Asset{Chain: chain.ID(u.text()), Ref: u.text()} }

func (u *unpacker) address() chain.Address {
	family := chain.Family(u.text())
	return chain.CanonicalAddress(family, u.text())
}

func (u *unpacker) listed() Asset {
	return Asset{Asset: u.asset(), Symbol: u.text(), Decimals: int(u.small()), Dust: u.amount()}
}

func (u *unpacker) percent() money.Percent { return money.Percent(u.small()) }
func (u *unpacker) usd() money.USD         { return money.USD(u.num()) }
func (u *unpacker) time() time.Time        { return time.UnixMicro(u.num()).UTC() }

func (u *unpacker) offer() (Offer, error) {
	var o Offer
	q := &o.Quote
	o.Give, o.Get = u.listed(), u.listed()
	q.Give, q.Get = o.Give.Asset, o.Get.Asset
	for _, a := range []*money.Amount{&q.In, &q.Out, &q.MinIn, &q.MaxIn, &o.MinOut, &o.MaxFrom} {
		*a = u.amount()
	}
	q.Mode, o.Side, o.Venue = quote.RateMode(u.text()), Side(u.text()), u.text()
	q.Tolerance.Under, q.Tolerance.Over = u.percent(), u.percent()
	for _, a := range []*quote.Action{&q.Tolerance.UnderAction, &q.Tolerance.OverAction, &q.Tolerance.WrongAsset} {
		*a = quote.Action(u.text())
	}
	for _, n := range []*money.USD{&q.USD, &o.GiveUSD, &o.GetUSD, &o.NetworkUSD, &o.ServiceUSD} {
		*n = u.usd()
	}
	o.Slippage, o.Impact, o.Unpaid = u.percent(), u.percent(), u.percent()
	o.Takes, o.Confirmations = time.Duration(u.num()), uint64(u.num())
	q.ExpiresAt, o.CreatedAt = u.time(), u.time()
	q.Toll.Share, q.Toll.Flat = u.percent(), u.amount()
	for n := u.num(); n > 0 && !u.bad; n-- {
		s := quote.Step{Venue: u.text(), In: u.asset(), Out: u.asset(), Give: u.amount(), Bring: u.amount(), MinOut: u.amount()}
		if plan := u.raw(); len(plan) > 0 {
			s.Plan = bytes.Clone(plan)
		}
		q.Steps = append(q.Steps, s)
	}
	o.Earning = u.earning()
	o.PayFrom = u.address()
	if e := o.Earning; e != nil {
		q.Fee = &quote.Fee{Percent: e.Percent, PayTo: e.PayTo, Skipped: e.Skipped}
	}
	if u.bad || len(u.b) > 0 {
		return Offer{}, errCoding
	}
	return o, nil
}

func (u *unpacker) earning() *Earning {
	if !u.flag() {
		return nil
	}
	return &Earning{
		Percent: u.percent(), Amount: u.amount(), USD: u.usd(), TransferUSD: u.usd(), PayTo: u.address(),
		Family: chain.Family(u.text()), Origin: Origin(u.text()), Skipped: u.flag(),
	}
}
