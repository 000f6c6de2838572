package store

import (
	"fmt"
	"strconv"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/settle"
)

// Kinds of work rows.
const (
	workWish   = "wish"
	workPrice  = "price"
	workStep   = "run_step"
	workLook   = "look_bridge"
	workClosed = "closed"
)

type callRow struct {
	Chain  string       `json:"chain"`
	From   string       `json:"from"`
	To     addressRow   `json:"to"`
	Asset  assetRow     `json:"asset"`
	Amount money.Amount `json:"amount"`

	Sources []sourceRow `json:"sources,omitempty"`
	Data    []byte      `json:"data,omitempty"`
}

// sourceRow is a deposit address that a call empties.
type sourceRow struct {
	Address  addressRow   `json:"address"`
	Index    uint32       `json:"index"`
	Amount   money.Amount `json:"amount"`
	Deposits []string     `json:"deposits"`
}

func callToRow(c chain.Call) callRow {
	r := callRow{Chain: string(c.Chain), From: string(c.From), To: addressToRow(c.To), Asset: assetToRow(c.Asset), Amount: c.Amount, Data: c.Data}
	for _, s := range c.Sources {
		one := sourceRow{Address: addressToRow(s.Address), Index: s.Index, Amount: s.Amount}
		for _, d := range s.Deposits {
			one.Deposits = append(one.Deposits, string(d))
		}
		r.Sources = append(r.Sources, one)
	}
	return r
}

func (r callRow) call() chain.Call {
	c := chain.Call{Chain: chain.ID(r.Chain), From: chain.Account(r.From), To: r.To.address(), Asset: r.Asset.asset(), Amount: r.Amount, Data: r.Data}
	for _, s := range r.Sources {
		one := chain.Source{Address: s.Address.address(), Index: s.Index, Amount: s.Amount}
		for _, d := range s.Deposits {
			one.Deposits = append(one.Deposits, chain.DepositID(d))
		}
		c.Sources = append(c.Sources, one)
	}
	return c
}

// workRow is the document of a work row; which parts of it are there depends on
// the row's kind.
type workRow struct {
	V        int        `json:"v"`
	Transfer string     `json:"transfer,omitzero"`
	For      string     `json:"for,omitzero"`
	Deposit  string     `json:"deposit,omitzero"`
	Call     *callRow   `json:"call,omitzero"`
	Index    int        `json:"index,omitzero"`
	Result   *resultRow `json:"result,omitzero"`

	Was *money.Amount `json:"was,omitzero"` // of a transfer that landed again
}

// wished is an effect on its way into the work table.
type wished struct{ id, kind, doc string }

// effectToRow names the work after the effect and the version of the order that
// asked for it: the same wish made again later is new work, and is not lost if
// the old one is just being finished.
func effectToRow(id order.ID, version int64, e order.Effect) (wished, error) {
	r := workRow{V: docVersion}
	var kind, name string
	switch e := e.(type) {
	case order.Wish:
		call := callToRow(e.Call)
		kind, name = workWish, e.ID
		r.Transfer, r.For, r.Deposit, r.Call = e.ID, string(e.For), string(e.Deposit), &call
	case order.Price:
		call := callToRow(e.Call)
		kind, name = workPrice, e.ID
		r.Transfer, r.For, r.Deposit, r.Call = e.ID, string(e.For), string(e.Deposit), &call
	case order.RunStep:
		kind, name = workStep, string(id)+"/"+strconv.Itoa(e.Index)
		r.Index = e.Index
	case order.LookBridge:
		kind, name = workLook, string(id)
		r.Index = e.Turn
	default:
		return wished{}, fmt.Errorf("order %s: effect %s can not be kept as work", id, e.Name())
	}
	doc, err := writeDoc(r)
	return wished{id: fmt.Sprintf("%s/%s@%d", kind, name, version), kind: kind, doc: doc}, err
}

// workFromRow reads a work row back.
func workFromRow(w settle.Work, kind, doc string) (settle.Work, error) {
	var r workRow
	if err := readDoc(doc, &r, &r.V); err != nil {
		return w, fmt.Errorf("work %s: %w", w.ID, err)
	}
	var call chain.Call
	if r.Call != nil {
		call = r.Call.call()
	}
	switch kind {
	case workWish:
		w.Effect = order.Wish{ID: r.Transfer, For: order.Purpose(r.For), Deposit: chain.DepositID(r.Deposit), Call: call}
	case workPrice:
		w.Effect = order.Price{ID: r.Transfer, For: order.Purpose(r.For), Deposit: chain.DepositID(r.Deposit), Call: call}
	case workStep:
		w.Effect = order.RunStep{Index: r.Index}
	case workLook:
		w.Effect = order.LookBridge{Turn: r.Index}
	case workClosed:
		if r.Result == nil {
			return w, fmt.Errorf("work %s: no result", w.ID)
		}
		w.Closed = &settle.Closed{Transfer: send.ID(r.Transfer), Result: r.Result.result(), Was: r.Was}
	default:
		return w, fmt.Errorf("work %s: unknown kind %q", w.ID, kind)
	}
	return w, nil
}
