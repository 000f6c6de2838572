package store

import (
	"encoding/hex"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// bridgeRow is a bridge that its owner runs.
type bridgeRow struct {
	Plan    string          `json:"plan,omitzero"`
	From    addressRow      `json:"from,omitzero"`
	Auto    bool            `json:"auto,omitzero"`
	Fee     sumRow          `json:"fee,omitzero"`
	Paid    string          `json:"paid,omitzero"`
	Earned  bool            `json:"earned,omitzero"`
	Steps   []bridgeStepRow `json:"steps"`
	Proof   string          `json:"proof,omitzero"`
	Moved   money.Amount    `json:"moved,omitzero"`
	Brought money.Amount    `json:"brought,omitzero"`
	Turn    int             `json:"turn,omitzero"`
}

type bridgeStepRow struct {
	ID       string `json:"id"`
	Title    string `json:"title,omitzero"`
	Actor    string `json:"actor"`
	Chain    string `json:"chain"`
	Claim    bool   `json:"claim,omitzero"`
	Takes    int64  `json:"takes,omitzero"`
	Status   string `json:"status"`
	ReadyAt  int64  `json:"ready_at"`
	Estimate bool   `json:"estimate,omitzero"`
	Tx       string `json:"tx,omitzero"`
	ToldAt   int64  `json:"told_at"`
	Attempts int    `json:"attempts,omitzero"`
	Claims   int    `json:"claims,omitzero"`
	Named    int    `json:"named,omitzero"`
	Error    string `json:"error,omitzero"`
}

func bridgeToRow(b *order.Bridge) *bridgeRow {
	if b == nil {
		return nil
	}
	r := &bridgeRow{
		Plan: hex.EncodeToString(b.Plan), From: addressToRow(b.From), Auto: b.Auto, Fee: sumToRow(b.Fee), Paid: string(b.Paid), Earned: b.Earned,
		Proof: b.Proof, Moved: b.Moved, Brought: b.Brought, Turn: b.Turn,
	}
	for _, s := range b.Steps {
		r.Steps = append(r.Steps, bridgeStepRow{
			ID: s.ID, Title: s.Title, Actor: string(s.Actor), Chain: string(s.Chain), Claim: s.Claim, Takes: int64(s.Takes),
			Status: string(s.Status), ReadyAt: micro(s.ReadyAt), Estimate: s.Estimate, Tx: string(s.Tx), ToldAt: micro(s.ToldAt),
			Attempts: s.Attempts, Claims: s.Claims, Named: s.Named, Error: plain(s.Error),
		})
	}
	return r
}

func (r *bridgeRow) bridge() *order.Bridge {
	if r == nil {
		return nil
	}
	plan, err := hex.DecodeString(r.Plan)
	if err != nil || len(plan) == 0 {
		plan = nil // a bridge refuses a plan that is none of its own
	}
	b := &order.Bridge{
		Plan: plan, From: r.From.address(), Auto: r.Auto, Fee: r.Fee.sum(), Paid: chain.DepositID(r.Paid), Earned: r.Earned,
		Proof: r.Proof, Moved: r.Moved, Brought: r.Brought, Turn: r.Turn,
	}
	for _, s := range r.Steps {
		b.Steps = append(b.Steps, order.BridgeStep{
			Leg:    quote.Leg{ID: s.ID, Title: s.Title, Actor: quote.Actor(s.Actor), Chain: chain.ID(s.Chain), Claim: s.Claim, Takes: time.Duration(s.Takes)},
			Status: quote.LegStatus(s.Status), ReadyAt: unmicro(s.ReadyAt), Estimate: s.Estimate, Tx: chain.TxID(s.Tx), ToldAt: unmicro(s.ToldAt),
			Attempts: s.Attempts, Claims: s.Claims, Named: s.Named, Error: s.Error,
		})
	}
	return b
}
