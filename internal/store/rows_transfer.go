package store

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// transferRow is the document of a transfer.
type transferRow struct {
	V        int          `json:"v"`
	ID       string       `json:"id"`
	Order    string       `json:"order"`
	Call     callRow      `json:"call"`
	USD      int64        `json:"usd"`
	MaxFee   money.Amount `json:"max_fee"`
	Deadline int64        `json:"deadline"`
	GiveUp   int64        `json:"give_up"`
	WishedAt int64        `json:"wished_at"`
}

func transferToRow(t send.Transfer) transferRow {
	return transferRow{
		V: docVersion, ID: string(t.ID), Order: t.Order, Call: callToRow(t.Call), USD: int64(t.USD), MaxFee: t.MaxFee,
		Deadline: micro(t.Deadline), GiveUp: micro(t.GiveUp), WishedAt: micro(t.WishedAt),
	}
}

func transferFromDoc(doc string) (send.Transfer, error) {
	var r transferRow
	if err := readDoc(doc, &r, &r.V); err != nil {
		return send.Transfer{}, fmt.Errorf("transfer %s: %w", r.ID, err)
	}
	return send.Transfer{
		ID: send.ID(r.ID), Order: r.Order, Call: r.Call.call(), USD: money.USD(r.USD), MaxFee: r.MaxFee,
		Deadline: unmicro(r.Deadline), GiveUp: unmicro(r.GiveUp), WishedAt: unmicro(r.WishedAt),
	}, nil
}

// resultRow is how a transfer ended.
type resultRow struct {
	Fate   uint8        `json:"fate"`
	Tx     string       `json:"tx,omitzero"`
	Cost   money.Amount `json:"cost"`
	Height uint64       `json:"height"`
	Hash   string       `json:"hash,omitzero"`
	Parent string       `json:"parent,omitzero"`
	Time   int64        `json:"time"`
	Why    string       `json:"why,omitzero"`
}

func resultToRow(r send.Result) resultRow {
	return resultRow{
		Fate: uint8(r.Fate), Tx: string(r.Tx), Cost: r.Cost, Why: r.Why,
		Height: r.Block.Height, Hash: r.Block.Hash, Parent: r.Block.Parent, Time: micro(r.Block.Time),
	}
}

func (r resultRow) result() send.Result {
	return send.Result{
		Fate: chain.Fate(r.Fate), Tx: chain.TxID(r.Tx), Cost: r.Cost, Why: r.Why,
		Block: chain.Block{Height: r.Height, Hash: r.Hash, Parent: r.Parent, Time: unmicro(r.Time)},
	}
}

// attemptRow are the columns of an attempt.
type attemptRow struct {
	n            int64
	tx, raw      string
	slots        string // a JSON list
	cancel, dead bool
	fee, expires string
	at           int64
}

func attemptToRow(k send.Kept) (attemptRow, error) {
	slots, err := json.Marshal(k.Slots)
	return attemptRow{
		n: int64(k.N), tx: string(k.Tx), raw: hex.EncodeToString(k.Raw), slots: string(slots), cancel: k.Cancel, dead: k.Dead,
		fee: k.Fee.String(), expires: strconv.FormatUint(k.Expires, 10), at: micro(k.At),
	}, err
}

func (r attemptRow) kept() (k send.Kept, err error) {
	k = send.Kept{N: int(r.n), Cancel: r.cancel, Dead: r.dead, At: unmicro(r.at)}
	k.Tx = chain.TxID(r.tx)
	if r.raw != "" {
		if k.Raw, err = hex.DecodeString(r.raw); err != nil {
			return k, fmt.Errorf("attempt %d: raw: %w", r.n, err)
		}
	}
	if err = json.Unmarshal([]byte(r.slots), &k.Slots); err != nil {
		return k, fmt.Errorf("attempt %d: slots: %w", r.n, err)
	}
	if k.Fee, err = money.Parse(r.fee); err != nil {
		return k, fmt.Errorf("attempt %d: fee: %w", r.n, err)
	}
	if k.Expires, err = strconv.ParseUint(r.expires, 10, 64); err != nil {
		return k, fmt.Errorf("attempt %d: expires: %w", r.n, err)
	}
	return k, nil
}
