package store

import (
	"fmt"
	"time"

	"ferry/internal/ledger"
)

// enter books an entry for an operation that is no booking, such as the end of a
// sweep. It asks for everything that it touches, after whatever the batch has written,
// and it comes before the operation writes. It takes postings only.
func (t *tx) enter(e ledger.Entry, name string, at time.Time) error {
	if len(e.Voids)+len(e.Reserve) > 0 {
		return fmt.Errorf("%s: reservations are for orders", name)
	}
	if len(e.Postings) == 0 {
		return nil
	}
	books, versions := ledger.NewBooks(), map[ledger.Key]int64{}
	var now head
	ss := []stmt{ask(func(r row) error { return r.Scan(&now.seq, &now.posting) }, sqlHead)}
	var keys []ledger.Key
	for _, p := range e.Postings {
		for _, a := range []ledger.Account{p.Debit, p.Credit} {
			k := ledger.Key{Account: a, Asset: p.Asset}
			if _, asked := versions[k]; asked {
				continue
			}
			versions[k] = 0
			keys = append(keys, k)
			ss = append(ss, ask(func(r row) error {
				var version int64
				b, err := scanBalance(r, &version)
				books.Balances[k], versions[k] = b, version
				return err
			}, sqlBalance, string(a), p.Asset.String()))
		}
	}
	if err := t.read(ss...); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := books.Apply(e); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var posted, set []any
	for i, p := range e.Postings {
		posted = append(posted, now.posting+int64(i)+1, name, string(p.Debit), string(p.Credit), p.Asset.String(), p.Amount.String(), micro(at))
	}
	for _, k := range keys {
		b := books.Balances[k]
		set = append(set, string(k.Account), k.Asset.String(), b.Debits.String(), b.Credits.String(), b.Reserved.String(), versions[k]+1)
	}
	t.queue = append(t.queue, stmt{many: newPostings, args: posted}, stmt{many: setBalances, args: set})
	t.wrote, t.entered = true, true
	return nil
}
