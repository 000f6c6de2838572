package store

import (
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/send"
)

// rested is a transfer that landed again after a chain went back behind it.
type rested struct {
	wish     send.Transfer
	was, now send.Result
	work     workRow // as it was left when the transfer ended
}

// landedAgain ends a vigil. What the transfer cost or brought may be another than
// before: a sweep is booked anew here, and whoever wished another transfer is left work.
func (t *tx) landedAgain(id send.ID, k keptTransfer, ended string, landed int64, again chain.Status, now time.Time) error {
	var a rested
	if err := readDoc(ended, &a.work, &a.work.V); err != nil || a.work.Result == nil {
		return fmt.Errorf("transfer %s: result %q: %w", id, ended, err)
	}
	var err error
	if a.wish, err = transferFromDoc(k.doc); err != nil {
		return err
	}
	a.was = a.work.Result.result()
	a.now = a.was
	a.now.Cost, a.now.Block = again.Fee, again.Block
	sweep := len(a.wish.Call.Sources) > 0
	turned := a.was.Fate != chain.Dead && again.Fate != a.was.Fate
	if sweep {
		if turned {
			a.now.Fate = again.Fate
		}
		if err := t.resweep(a, now); err != nil {
			return err
		}
	} else if turned {
		// Somebody was told that he is paid, or that he is not: no machine puts that right.
		t.write(sqlHalt, string(a.wish.Call.Chain), fmt.Sprintf("%s ended as %s, was taken back, and landed again as %s", id, a.was.Fate, again.Fate), micro(now))
	}
	t.write(sqlRest, landed, string(id))
	if a.now.Cost == a.was.Cost && a.now.Fate == a.was.Fate {
		return nil
	}
	row, cost := resultToRow(a.now), a.was.Cost
	a.work.Result, a.work.Was = &row, &cost
	doc, err := writeDoc(a.work)
	if err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	t.write(sqlSetResult, doc, a.now.Fate.String(), string(id))
	if !sweep {
		t.write(sqlNewClosed, workClosed+"/"+string(id)+"@"+again.Block.Hash, a.wish.Order, workClosed, micro(now), doc, string(id))
	}
	return nil
}
