package treasury

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
)

// Audited is a chain that is compared with the books.
type Audited struct {
	ID     chain.ID
	Assets []chain.Asset
	View   View
}

// Auditor compares the books with the chains.
type Auditor struct {
	account chain.Account
	books   Books
	chains  []Audited
}

// NewAuditor makes an auditor of the wallet of an account on some chains.
func NewAuditor(account chain.Account, books Books, chains ...Audited) (*Auditor, error) {
	if account == "" || len(chains) == 0 {
		return nil, errors.New("treasury: an audit needs an account and at least one chain; an empty list never means all of them")
	}
	for _, c := range chains {
		if c.View == nil || len(c.Assets) == 0 || !slices.Contains(c.Assets, c.ID.Native()) {
			return nil, fmt.Errorf("treasury: chain %s can not be audited without a view of it and its assets, its own coin among them", c.ID)
		}
	}
	return &Auditor{account: account, books: books, chains: chains}, nil
}

// Where the money of a line lies.
const (
	AtHome    = "hot"      // in the wallet that pays
	OnDeposit = "deposits" // on deposit addresses
)

// Line is one account of the books beside the chain.
type Line struct {
	Where string
	Asset chain.Asset
	Books *big.Int
	Chain *big.Int
	// Reserved is what of the books' amount orders have a claim to.
	Reserved money.Amount
	// Reasons explain why the chain has more, or less below zero, than the books.
	Reasons []Reason
	// Unexplained is what no reason covers: what the chain has too much, or below zero,
	// what is missing there.
	Unexplained *big.Int
}

// Reason is one thing that is on its way.
type Reason struct {
	What   string // what it is, and which
	Amount *big.Int
}

// Finding is what the audit of a chain found.
type Finding struct {
	Chain chain.ID
	At    chain.Block // where the chain was looked at
	Lines []Line
}

// Missing says what is not where it should be; empty if nothing is.
func (f Finding) Missing() string {
	return f.unexplained(func(l Line) bool { return l.Unexplained.Sign() < 0 }, "%s of %s is missing from %s")
}

// Surplus says what lies where nobody knows of it; empty if nothing does.
func (f Finding) Surplus() string {
	return f.unexplained(func(l Line) bool { return l.Unexplained.Sign() > 0 }, "%s of %s is on %s and in no book")
}

func (f Finding) unexplained(is func(Line) bool, format string) string {
	var all []string
	for _, l := range f.Lines {
		if is(l) {
			all = append(all, fmt.Sprintf(format, new(big.Int).Abs(l.Unexplained), l.Asset, place(l.Where)))
		}
	}
	return strings.Join(all, ", ")
}

func place(where string) string {
	if where == AtHome {
		return "the wallet"
	}
	return "deposit addresses"
}

// Audit compares all chains. Trouble with one does not keep the others from being
// compared; a chain that could not be is not among the findings.
func (a *Auditor) Audit(ctx context.Context) ([]Finding, error) {
	var all []Finding
	var errs []error
	for _, c := range a.chains {
		f, err := a.chain(ctx, c)
		if err != nil {
			errs = append(errs, fmt.Errorf("audit of %s: %w", c.ID, err))
			continue
		}
		all = append(all, f)
	}
	return all, errors.Join(errs...)
}

// Step audits, and halts every chain on which something is missing. It looks twice
// before it does: the second look is at another block and another moment of the books.
func (a *Auditor) Step(ctx context.Context, now time.Time) error {
	var errs []error
	for _, c := range a.chains {
		f, err := a.chain(ctx, c)
		if err == nil && f.Missing() != "" {
			f, err = a.chain(ctx, c)
		}
		switch {
		case errors.Is(err, ErrUnread): // whoever reads it says why
		case err != nil:
			errs = append(errs, fmt.Errorf("audit of %s: %w", c.ID, err))
		default:
			errs = append(errs, a.Halt(ctx, f, now))
		}
	}
	return errors.Join(errs...)
}

// ErrMissing: money is not where it should be, and its chain was halted.
var ErrMissing = errors.New("treasury: money is missing, and the chain was halted")

// Halt stops the chain of a finding in which something is missing.
func (a *Auditor) Halt(ctx context.Context, f Finding, now time.Time) error {
	why := f.Missing()
	if why == "" {
		return nil
	}
	if err := a.books.Halt(ctx, f.Chain, "an audit found that "+why, now); err != nil {
		return fmt.Errorf("halt %s because %s: %w", f.Chain, why, err)
	}
	return fmt.Errorf("%w: on %s %s", ErrMissing, f.Chain, why)
}

// ErrUnread: the chain was not read as far as it is final, so that nothing can be
// compared. It is no finding; the next audit looks again.
var ErrUnread = errors.New("treasury: the chain was not read up to where it is final")

// sheet is the audit of one chain on its way.
type sheet struct {
	Audited
	at    chain.Block
	m     Moment
	lines map[string]map[chain.Asset]*Line
}

// chain compares one chain. The order of the questions carries the exactness: the block
// is final and was read before the books are opened, so that whatever stands in it is in
// the books, or among what they know to be on its way.
func (a *Auditor) chain(ctx context.Context, c Audited) (Finding, error) {
	head, err := c.View.Head(ctx)
	if err != nil {
		return Finding{}, fmt.Errorf("head: %w", err)
	}
	at, err := a.books.Read(ctx, c.ID, head.Final.Height)
	switch {
	case err != nil:
		return Finding{}, err
	case at.IsZero():
		return Finding{}, ErrUnread
	case at.Height == head.Final.Height && at.Hash != head.Final.Hash:
		return Finding{}, fmt.Errorf("height %d was read on another branch: %w", at.Height, ErrUnread)
	}
	s := &sheet{Audited: c, at: at, lines: map[string]map[chain.Asset]*Line{AtHome: {}, OnDeposit: {}}}
	if s.m, err = a.books.Moment(ctx, c.ID, s.at.Height); err != nil {
		return Finding{}, err
	}
	s.open()
	for _, t := range s.m.Moving {
		if err := s.moving(ctx, t); err != nil {
			return Finding{}, fmt.Errorf("transfer %s: %w", t.Transfer.ID, err)
		}
	}
	for _, d := range s.m.Differing {
		s.deposit(d)
	}
	if err := s.weigh(ctx, a.account); err != nil {
		return Finding{}, err
	}
	return s.close(), nil
}

// open begins a line for every account.
func (s *sheet) open() {
	for where, books := range map[string]map[chain.Asset]ledger.Balance{AtHome: s.m.Home, OnDeposit: s.m.Lying} {
		for _, a := range s.Assets {
			b := books[a]
			n, below := b.Net()
			line := &Line{Where: where, Asset: a, Books: toBig(n), Chain: new(big.Int), Reserved: b.Reserved, Unexplained: new(big.Int)}
			if below {
				line.Books.Neg(line.Books)
			}
			s.lines[where][a] = line
		}
	}
}

// explain notes why a line's chain has more than its books; an asset that is not
// audited has no line.
func (s *sheet) explain(where string, a chain.Asset, n *big.Int, format string, args ...any) {
	if line := s.lines[where][a]; line != nil && n.Sign() != 0 {
		line.Reasons = append(line.Reasons, Reason{fmt.Sprintf(format, args...), n})
	}
}

// moving explains what a transfer did on the chain and not in the books, or in the
// books and not on the chain.
func (s *sheet) moving(ctx context.Context, t Moving) error {
	landed := t.Landed
	if landed == nil {
		var err error
		if landed, err = s.look(ctx, t); err != nil {
			return err
		}
	}
	c, id := t.Transfer.Call, t.Transfer.ID
	s.explain(AtHome, c.Chain.Native(), new(big.Int).Sub(toBig(t.Booked.Cost), toBig(landed.Cost)), "the cost of %s", id)
	switch {
	case landed.Moved == t.Booked.Moved:
		return nil
	case len(c.Data) > 0 && t.Booked.Moved:
		return fmt.Errorf("it landed above height %d: %w", s.at.Height, ErrUnread)
	case len(c.Data) > 0: // what it took and brought is booked with its step
		return nil
	}
	n, how := toBig(c.Amount), "%s landed and is not booked yet"
	if t.Booked.Moved {
		n, how = n.Neg(n), "%s is booked and not on the chain there"
	}
	if len(c.Sources) == 0 {
		s.explain(AtHome, c.Asset, new(big.Int).Neg(n), how, id)
		return nil
	}
	s.explain(AtHome, c.Asset, n, how, id)
	s.explain(OnDeposit, c.Asset, new(big.Int).Neg(n), how, id)
	return nil
}

// look asks the chain what the attempts of a transfer did up to the block.
func (s *sheet) look(ctx context.Context, t Moving) (*Effect, error) {
	for _, k := range t.Attempts {
		if k.Dead {
			continue
		}
		st, err := s.View.Fate(ctx, k.Attempt)
		if err != nil {
			return nil, fmt.Errorf("fate of %s: %w", k.Tx, err)
		}
		switch st.Fate {
		case chain.Included, chain.Final, chain.Reverted:
			if st.Block.Height <= s.at.Height {
				return &Effect{Moved: !k.Cancel && st.Fate != chain.Reverted, Cost: st.Fee}, nil
			}
		}
	}
	return &Effect{}, nil
}

// deposit explains a payment that is on the chain and not in the books, or the other
// way round.
func (s *sheet) deposit(d Differing) {
	n := toBig(d.Amount)
	if d.Booked {
		s.explain(OnDeposit, d.Asset, n.Neg(n), "deposit %s is booked and not on the chain there", d.ID)
		return
	}
	s.explain(OnDeposit, d.Asset, n, "deposit %s is on the chain and not credited yet", d.ID)
}

// weigh asks the chain what there is, all of it at once.
func (s *sheet) weigh(ctx context.Context, account chain.Account) error {
	var spots []chain.Spot
	var lines []*Line
	for _, a := range s.Assets {
		spots, lines = append(spots, chain.Spot{Address: s.View.Own(account), Asset: a}), append(lines, s.lines[AtHome][a])
	}
	for _, p := range s.m.Spots {
		if line := s.lines[OnDeposit][p.Asset]; line != nil {
			spots, lines = append(spots, p), append(lines, line)
		}
	}
	has, err := s.View.Balances(ctx, spots, s.at)
	if err == nil && len(has) != len(spots) {
		err = fmt.Errorf("%d addresses were asked about, and %d were answered", len(spots), len(has))
	}
	if err != nil {
		return fmt.Errorf("balances: %w", err)
	}
	for i, n := range has {
		lines[i].Chain.Add(lines[i].Chain, toBig(n))
	}
	return nil
}

// close draws the lines.
func (s *sheet) close() Finding {
	f := Finding{Chain: s.ID, At: s.at}
	for _, where := range []string{AtHome, OnDeposit} {
		for _, a := range s.Assets {
			line := s.lines[where][a]
			line.Unexplained.Sub(line.Chain, line.Books)
			for _, r := range line.Reasons {
				line.Unexplained.Sub(line.Unexplained, r.Amount)
			}
			if where == AtHome {
				s.running(line)
			}
			slices.SortFunc(line.Reasons, func(a, b Reason) int { return strings.Compare(a.What, b.What) })
			f.Lines = append(f.Lines, *line)
		}
	}
	return f
}

// running explains what steps may have taken or brought that are not booked yet.
func (s *sheet) running(line *Line) {
	most, brings := new(big.Int), false
	for _, r := range s.m.Running {
		if r.In == line.Asset {
			most.Sub(most, toBig(r.Most))
		}
		brings = brings || r.Out == line.Asset
	}
	switch sign := line.Unexplained.Sign(); {
	case sign < 0 && most.Sign() < 0:
		if most.Cmp(line.Unexplained) < 0 {
			most.Set(line.Unexplained)
		}
		line.Reasons = append(line.Reasons, Reason{"taken by steps that run", most})
	case sign > 0 && brings:
		most.Set(line.Unexplained)
		line.Reasons = append(line.Reasons, Reason{"brought by steps that run", most})
	default:
		return
	}
	line.Unexplained.Sub(line.Unexplained, most)
}

func toBig(n money.Amount) *big.Int {
	b, _ := new(big.Int).SetString(n.String(), 10)
	return b
}
