package store

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/order"
)

// docVersion is the version of the documents this program writes. It reads older
// ones, and refuses newer ones.
const docVersion = 1

// termsRow is what an order was made with. It is the store's own, so that the
// domain may change without changing what is on disk.
type termsRow struct {
	V          int        `json:"v"`
	ID         string     `json:"id"`
	Session    string     `json:"session"`
	Integrator string     `json:"integrator,omitzero"`
	Quote      quoteRow   `json:"quote"`
	DepositTo  addressRow `json:"deposit_to"`
	PayTo      addressRow `json:"pay_to"`
	PayFrom    addressRow `json:"pay_from,omitzero"`
	Patience   [6]int64   `json:"patience"` // nanoseconds, in the order of the domain's fields
	CreatedAt  int64      `json:"created_at"`
	Origin     *originRow `json:"origin,omitzero"`
}

type originRow struct {
	Key       string            `json:"key,omitzero"`
	Kind      string            `json:"kind,omitzero"`
	Client    string            `json:"client,omitzero"`
	Counts    []string          `json:"counts,omitempty"`
	Group     string            `json:"group,omitzero"`
	Reference string            `json:"reference,omitzero"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	PointsTo  string            `json:"points_to,omitzero"`
	Award     *awardRow         `json:"award,omitzero"`
	Private   bool              `json:"private,omitzero"`
	Bridge    string            `json:"bridge,omitzero"`
}

type awardRow struct {
	Season string `json:"season"`
	PerUSD int64  `json:"per_usd"`
	Times  int32  `json:"times"`
	Share  int32  `json:"share,omitzero"`
}

func awardToRow(a order.Award) *awardRow {
	if a == (order.Award{}) {
		return nil
	}
	return &awardRow{Season: a.Season, PerUSD: a.PerUSD, Times: int32(a.Times), Share: int32(a.Share)}
}

func (r *awardRow) award() order.Award {
	if r == nil {
		return order.Award{}
	}
	return order.Award{Season: r.Season, PerUSD: r.PerUSD, Times: money.Percent(r.Times), Share: money.Percent(r.Share)}
}

func originToRow(o order.Origin) *originRow {
	r := &originRow{
		Key: string(o.Key), Kind: string(o.Kind), Client: o.Client, Counts: o.Counts, Group: o.Group, Reference: o.Reference,
		Metadata: o.Metadata, PointsTo: o.PointsTo, Award: awardToRow(o.Award), Private: o.Private,
		Bridge: o.Bridge,
	}
	if reflect.ValueOf(*r).IsZero() {
		return nil
	}
	return r
}

func (r *originRow) origin() order.Origin {
	if r == nil {
		return order.Origin{}
	}
	return order.Origin{
		Key: integrator.KeyID(r.Key), Kind: integrator.Kind(r.Kind), Client: r.Client, Counts: r.Counts, Group: r.Group, Reference: r.Reference,
		Metadata: r.Metadata, PointsTo: r.PointsTo, Award: r.Award.award(), Private: r.Private,
		Bridge: r.Bridge,
	}
}

// orderRow is what becomes of an order.
type orderRow struct {
	V          int          `json:"v"`
	Version    int64        `json:"version"`
	State      string       `json:"state"`
	RefundTo   addressRow   `json:"refund_to,omitzero"`
	Deposits   []depositRow `json:"deposits,omitempty"`
	Received   money.Amount `json:"received,omitzero"`
	InHand     sumRow       `json:"in_hand,omitzero"`
	Step       int          `json:"step,omitzero"`
	Calls      []stepCall   `json:"calls,omitempty"`
	Cross      crossingRow  `json:"cross,omitzero"`
	Bridge     *bridgeRow   `json:"bridge,omitzero"`
	Payout     outflowRow   `json:"payout,omitzero"`
	Refund     outflowRow   `json:"refund,omitzero"`
	Fee        outflowRow   `json:"fee,omitzero"`
	FeeStatus  string       `json:"fee_status"`
	FeeReason  string       `json:"fee_reason,omitzero"`
	HoldWhy    string       `json:"hold_why,omitzero"`
	HoldRefund bool         `json:"hold_refund,omitzero"`
	HoldSince  int64        `json:"hold_since,omitzero"`
	HoldOffer  bool         `json:"hold_offer,omitzero"`
	Stop       string       `json:"stop,omitzero"`
	Failure    string       `json:"failure,omitzero"`
	Delayed    bool         `json:"delayed,omitzero"`
	UpdatedAt  int64        `json:"updated_at"`
	ExpiresAt  int64        `json:"expires_at"`
	Deadline   int64        `json:"deadline"`
	FinishedAt int64        `json:"finished_at"`
	Keys       []string     `json:"keys,omitempty"`
}

// stepCall is a settled transaction of a step.
type stepCall struct {
	Step int        `json:"step"`
	N    int        `json:"n"`
	Out  outflowRow `json:"out"`
}

// crossingRow is an exchange with our inventory between two steps.
type crossingRow struct {
	Done bool   `json:"done,omitzero"`
	Step int    `json:"step,omitzero"`
	In   sumRow `json:"in,omitzero"`
	Out  sumRow `json:"out,omitzero"`
}

func sumToRow(s order.Sum) sumRow { return sumRow{Asset: assetToRow(s.Asset), Amount: s.Amount} }
func (r sumRow) sum() order.Sum   { return order.Sum{Asset: r.Asset.asset(), Amount: r.Amount} }

type addressRow struct {
	Family string `json:"f,omitzero"`
	Text   string `json:"t,omitzero"`
}

func addressToRow(a chain.Address) addressRow {
	return addressRow{Family: string(a.Family()), Text: a.Text()}
}

func (r addressRow) address() chain.Address {
	return chain.CanonicalAddress(chain.Family(r.Family), r.Text)
}

type assetRow struct {
	Chain string `json:"c,omitzero"`
	Ref   string `json:"r,omitzero"`
}

func assetToRow(a chain.Asset) assetRow { return assetRow{Chain: string(a.Chain), Ref: a.Ref} }

func (r assetRow) asset() chain.Asset { return chain.Asset{Chain: chain.ID(r.Chain), Ref: r.Ref} }

type sumRow struct {
	Asset  assetRow     `json:"asset,omitzero"`
	Amount money.Amount `json:"amount,omitzero"`
}

type outflowRow struct {
	Asset  assetRow     `json:"asset,omitzero"`
	Amount money.Amount `json:"amount,omitzero"`
	Tx     string       `json:"tx,omitzero"`
	Cost   money.Amount `json:"cost,omitzero"`
	State  string       `json:"state,omitzero"`
}

func outflowToRow(o order.Outflow) outflowRow {
	return outflowRow{Asset: assetToRow(o.Asset), Amount: o.Amount, Tx: string(o.Tx), Cost: o.Cost, State: string(o.State)}
}

func (r outflowRow) outflow() order.Outflow {
	return order.Outflow{Asset: r.Asset.asset(), Amount: r.Amount, Tx: chain.TxID(r.Tx), Cost: r.Cost, State: order.OutState(r.State)}
}

type depositRow struct {
	ID       string       `json:"id"`
	Asset    assetRow     `json:"asset"`
	Amount   money.Amount `json:"amount"`
	Tx       string       `json:"tx"`
	Sighting int          `json:"sighting"`
	SeenAt   int64        `json:"seen_at"`
	State    string       `json:"state"`
	Why      string       `json:"why,omitzero"`
	Refund   outflowRow   `json:"refund,omitzero"`
	Deadline int64        `json:"deadline"`
	Lost     bool         `json:"lost,omitzero"`

	TakenBack bool `json:"taken_back,omitzero"`
}

func depositToRow(d order.Deposit) depositRow {
	return depositRow{
		ID: string(d.ID), Asset: assetToRow(d.Asset), Amount: d.Amount, Tx: string(d.Tx), Sighting: d.Sighting,
		SeenAt: micro(d.SeenAt), State: string(d.State), Why: string(d.Why), Refund: outflowToRow(d.Refund),
		Deadline: micro(d.Deadline), Lost: d.Lost, TakenBack: d.TakenBack,
	}
}

func (r depositRow) deposit() order.Deposit {
	return order.Deposit{
		ID: chain.DepositID(r.ID), Asset: r.Asset.asset(), Amount: r.Amount, Tx: chain.TxID(r.Tx), Sighting: r.Sighting,
		SeenAt: unmicro(r.SeenAt), State: order.DepositState(r.State), Why: order.Reason(r.Why), Refund: r.Refund.outflow(),
		Deadline: unmicro(r.Deadline), Lost: r.Lost, TakenBack: r.TakenBack,
	}
}

func termsToRow(o order.Order) termsRow {
	return termsRow{
		V: docVersion, ID: string(o.ID), Session: hex.EncodeToString(o.Session[:]), Integrator: string(o.Integrator),
		Quote: quoteToRow(o.Quote), DepositTo: addressToRow(o.DepositTo), PayTo: addressToRow(o.PayTo), PayFrom: addressToRow(o.PayFrom),
		Patience: patienceToRow(o.Patience), CreatedAt: micro(o.CreatedAt), Origin: originToRow(o.Origin),
	}
}

// sameTerms reports whether two versions of an order have the same terms.
func sameTerms(a, b order.Order) bool {
	return a.ID == b.ID && a.Session == b.Session && a.Integrator == b.Integrator && a.DepositTo == b.DepositTo &&
		a.PayTo == b.PayTo && a.PayFrom == b.PayFrom && a.Patience == b.Patience && a.CreatedAt.Equal(b.CreatedAt) &&
		reflect.DeepEqual(a.Quote, b.Quote) && reflect.DeepEqual(a.Origin, b.Origin)
}

// order is an order of which nothing but the terms is known.
func (r termsRow) order() (order.Order, error) {
	o := order.Order{
		ID: order.ID(r.ID), Integrator: integrator.ID(r.Integrator), DepositTo: r.DepositTo.address(), PayTo: r.PayTo.address(), PayFrom: r.PayFrom.address(),
		Patience: patienceFromRow(r.Patience), CreatedAt: unmicro(r.CreatedAt), Origin: r.Origin.origin(),
	}
	if n, err := hex.Decode(o.Session[:], []byte(r.Session)); err != nil || n != len(o.Session) {
		return order.Order{}, fmt.Errorf("order %s: its session is not 32 bytes of hex", r.ID)
	}
	var err error
	if o.Quote, err = r.Quote.quote(); err != nil {
		return order.Order{}, fmt.Errorf("order %s: %w", r.ID, err)
	}
	return o, nil
}

func orderToRow(o order.Order) orderRow {
	r := orderRow{
		V: docVersion, Version: o.Version, State: string(o.State), RefundTo: addressToRow(o.RefundTo),
		Received: o.Received, InHand: sumToRow(o.InHand), Step: o.Step,
		Payout: outflowToRow(o.Payout), Refund: outflowToRow(o.Refund), Fee: outflowToRow(o.Fee),
		FeeStatus: string(o.FeeStatus), FeeReason: string(o.FeeReason),
		HoldWhy: string(o.Hold.Why), HoldRefund: o.Hold.WantsRefund, HoldSince: o.Hold.Since, HoldOffer: o.Hold.Offered,
		Stop: string(o.Stop), Failure: string(o.Failure), Delayed: o.Delayed,
		UpdatedAt: micro(o.UpdatedAt), ExpiresAt: micro(o.ExpiresAt),
		Deadline: micro(o.Deadline), FinishedAt: micro(o.FinishedAt), Keys: o.Keys,
	}
	for _, d := range o.Deposits {
		r.Deposits = append(r.Deposits, depositToRow(d))
	}
	for _, c := range o.Calls {
		r.Calls = append(r.Calls, stepCall{Step: c.Step, N: c.N, Out: outflowToRow(c.Outflow)})
	}
	r.Bridge = bridgeToRow(o.Bridge)
	r.Cross = crossingRow{Done: o.Cross.Done, Step: o.Cross.Step, In: sumToRow(o.Cross.In), Out: sumToRow(o.Cross.Out)}
	return r
}

// order is what became of an order with these terms.
func (r orderRow) order(terms order.Order) order.Order {
	o := order.Order{
		ID: terms.ID, Session: terms.Session, Integrator: terms.Integrator, Quote: terms.Quote,
		DepositTo: terms.DepositTo, PayTo: terms.PayTo, PayFrom: terms.PayFrom, Patience: terms.Patience, CreatedAt: terms.CreatedAt, Origin: terms.Origin,

		Version: r.Version, State: order.State(r.State), RefundTo: r.RefundTo.address(),
		Received: r.Received, InHand: r.InHand.sum(), Step: r.Step,
		Payout: r.Payout.outflow(), Refund: r.Refund.outflow(), Fee: r.Fee.outflow(),
		FeeStatus: order.FeeStatus(r.FeeStatus), FeeReason: order.Reason(r.FeeReason),
		Hold: order.Hold{Why: order.Reason(r.HoldWhy), WantsRefund: r.HoldRefund, Since: r.HoldSince, Offered: r.HoldOffer},
		Stop: order.Reason(r.Stop), Failure: order.Reason(r.Failure), Delayed: r.Delayed,
		UpdatedAt: unmicro(r.UpdatedAt), ExpiresAt: unmicro(r.ExpiresAt),
		Deadline: unmicro(r.Deadline), FinishedAt: unmicro(r.FinishedAt), Keys: r.Keys,
	}
	for _, d := range r.Deposits {
		o.Deposits = append(o.Deposits, d.deposit())
	}
	for _, c := range r.Calls {
		o.Calls = append(o.Calls, order.StepCall{Step: c.Step, N: c.N, Outflow: c.Out.outflow()})
	}
	o.Bridge = r.Bridge.bridge()
	o.Cross = order.Crossing{Done: r.Cross.Done, Step: r.Cross.Step, In: r.Cross.In.sum(), Out: r.Cross.Out.sum()}
	return o
}

func patienceToRow(p order.Patience) [6]int64 {
	return [6]int64{int64(p.Confirming), int64(p.Executing), int64(p.Sending), int64(p.Held), int64(p.Refunding), int64(p.Recovery)}
}

func patienceFromRow(p [6]int64) order.Patience {
	return order.Patience{
		Confirming: time.Duration(p[0]), Executing: time.Duration(p[1]), Sending: time.Duration(p[2]),
		Held: time.Duration(p[3]), Refunding: time.Duration(p[4]), Recovery: time.Duration(p[5]),
	}
}

// orderFromDocs reads an order back.
func orderFromDocs(terms, after string) (order.Order, error) {
	var t termsRow
	if err := readDoc(terms, &t, &t.V); err != nil {
		return order.Order{}, fmt.Errorf("order %s: its terms: %w", t.ID, err)
	}
	o, err := t.order()
	if err != nil {
		return order.Order{}, err
	}
	var r orderRow
	if err := readDoc(after, &r, &r.V); err != nil {
		return order.Order{}, fmt.Errorf("order %s: %w", t.ID, err)
	}
	return r.order(o), nil
}

// writeDoc and readDoc are the one way documents are written and read.
func writeDoc(r any) (string, error) {
	b, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	return string(b), err
}

func readDoc(doc string, r any, version *int) error {
	if err := json.Unmarshal([]byte(doc), r, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	if *version < 1 || *version > docVersion {
		return fmt.Errorf("%w: document version %d, this program knows %d", ErrNewerSchema, *version, docVersion)
	}
	return nil
}
