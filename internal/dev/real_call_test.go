package dev

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// toldTransaction and toldFunding are what a wallet is given.
type (
	toldTransaction struct {
		Family, ChainID, From, To, Data, Value, GasLimit, Serialized string
		EVMChainID, LastValidBlockHeight                             uint64
	}
	toldFunding struct {
		Mode           string
		DepositAddress *string
		URI            string
		Transaction    *toldTransaction
		Approvals      []toldTransaction
	}
)

// request is a transaction as a wallet signs it.
func (x toldTransaction) request(t *testing.T) chain.Request {
	t.Helper()
	if x.Family == "solana" {
		raw, err := base64.StdEncoding.DecodeString(x.Serialized)
		if err != nil {
			t.Fatal(err)
		}
		return chain.Request{Serialized: raw, ValidTo: x.LastValidBlockHeight}
	}
	data, err := hex.DecodeString(strings.TrimPrefix(x.Data, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	gas, err := strconv.ParseUint(x.GasLimit, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return chain.Request{To: chain.CanonicalAddress(chain.EVM, strings.ToLower(x.To)), Data: data, Value: money.MustParse(x.Value), Gas: gas}
}

// openCall makes an order that somebody will pay by a transaction of his own.
func (r *real) openCall(t *testing.T, from, to place, who customer) *trade {
	t.Helper()
	payer, err := who.address(r.on[from.slug].Family)
	if err != nil {
		t.Fatal(err)
	}
	w := &trade{real: r, t: t, from: from, to: to, key: r.key, toAddr: r.fresh(to.slug, t.Name()+" receives"), back: r.on[from.slug].Codec.Show(payer)}
	code, text := r.insist(t, r.key, "/v2/quotes", fields{
		"fromChainId": from.slug, "fromToken": r.token(from), "toChainId": to.slug, "toToken": r.token(to),
		"amount": r.worth(from, "240").String(), "toAddress": w.toAddr, "fundingMode": "contract_call", "fromAddress": w.back,
	})
	var quoted struct{ QuoteID, FundingMode string }
	if err := json.Unmarshal(text, &quoted); code != http.StatusOK || err != nil || quoted.FundingMode != "contract_call" {
		t.Fatalf("the quote was answered with %d %s, %v", code, text, err)
	}
	code, text = r.insist(t, r.key, "/v2/orders", fields{"quoteId": quoted.QuoteID, "toAddress": w.toAddr})
	var made struct {
		toldOrder
		RefundAddress string
		Funding       toldFunding
	}
	if err := json.Unmarshal(text, &made); code != http.StatusCreated || err != nil {
		t.Fatalf("the order was answered with %d %s, %v", code, text, err)
	}
	if f := made.Funding; f.Mode != "contract_call" || f.DepositAddress != nil || f.URI != "" || f.Transaction == nil || made.RefundAddress != w.back {
		t.Errorf("the order is to be paid by %s", text)
	}
	w.id, w.session = made.OrderID, made.SessionID
	if w.order, err = r.DB.Order(t.Context(), order.ID(w.id)); err != nil {
		t.Fatal(err)
	}
	return w
}

// signs has the customer sign what the API tells him to, after he was given what it takes.
func (w *trade) signs(who customer) {
	w.t.Helper()
	give := w.order.Quote.Give
	payer, err := who.address(w.on[w.from.slug].Family)
	if err != nil {
		w.t.Fatal(err)
	}
	on := w.Network.grounds[give.Chain].(signs)
	if err := w.Network.enrich(w.t.Context(), on, payer, give, w.order.Quote.In); err != nil {
		w.t.Fatal(err)
	}
	code, text := w.ask(w.t, w.key, w.session, http.MethodGet, "/v2/orders/"+w.id, nil)
	var o struct{ Funding toldFunding }
	if err := json.Unmarshal(text, &o); code != http.StatusOK || err != nil || o.Funding.Transaction == nil {
		w.t.Fatalf("order %s was answered with %d %s, %v", w.id, code, text, err)
	}
	for _, x := range append(o.Funding.Approvals, *o.Funding.Transaction) {
		if _, err := on.sign(w.t.Context(), who, x.request(w.t)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// verified holds what is shown without the session to what may be.
func (w *trade) verified() {
	w.t.Helper()
	code, text := w.ask(w.t, "", "", http.MethodGet, "/v2/orders/"+w.id+"?verify="+w.toAddr, nil)
	var o struct {
		Access  string
		Funding toldFunding
	}
	if err := json.Unmarshal(text, &o); code != http.StatusOK || err != nil || o.Access != "verify" || o.Funding.Transaction != nil || len(o.Funding.Approvals) > 0 || o.Funding.Mode != "contract_call" {
		w.t.Errorf("without its session order %s is shown as %d %s, %v", w.id, code, text, err)
	}
}

// TestContractCallsOnRealNodes pays orders by transactions that customers sign, straight
// into the wallet, and then holds the books to the chains.
func TestContractCallsOnRealNodes(t *testing.T) {
	t.Parallel()
	r := stage{dir: t.TempDir(), prefix: networkPrefix(), blocks: manyBlocks, only: []chain.ID{Ethereum, Solana}, change: calm}.begin(t)
	r.closeChains(t)
	r.key = r.company(t, "nobody", nil)
	r.refusesCalls(t)
	var all []story
	for _, p := range [][2]place{{eth, sol}, {usd, solUSD}, {sol, usd}, {solUSD, eth}} {
		all = append(all,
			story{p[0].String() + " signed by its payer", func(t *testing.T, r *real) {
				who := newCustomer(t.Name())
				w := r.openCall(t, p[0], p[1], who)
				w.verified()
				w.signs(who)
				w.arrived(w.until("completed"), "delivery", p[1], w.toAddr)
			}},
			story{p[0].String() + " paid too little", func(t *testing.T, r *real) { tooLittle(r.openCall(t, p[0], p[1], newCustomer(t.Name()))) }},
			story{p[0].String() + " cancelled and paid", func(t *testing.T, r *real) { cancelled(r.openCall(t, p[0], p[1], newCustomer(t.Name()))) }},
		)
	}
	all = append(all, story{"ethereum USDC paid twice", func(t *testing.T, r *real) { twice(r.openCall(t, usd, sol, newCustomer(t.Name()))) }})
	all = append(all, story{"ethereum ETH paid in USDC", func(t *testing.T, r *real) { wrongAsset(r.openCall(t, eth, sol, newCustomer(t.Name())), usd) }})
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { t.Run(s.name, func(t *testing.T) { s.tell(t, r) }) })
	}
	wg.Wait()
	t.Run("ethereum reorganised", func(t *testing.T) { reorganisedCall(r.openCall(t, eth, sol, newCustomer(t.Name()))) })
	if !t.Failed() {
		r.booksAreChains(t)
	}
}

// refusesCalls asks for what can not be, and reads what can.
func (r *real) refusesCalls(t *testing.T) {
	t.Helper()
	for name, c := range map[string]struct {
		from, by string
		status   int
		says     string
	}{
		"nobody":              {"ethereum", "", http.StatusBadRequest, `"/fromAddress"`},
		"no address":          {"ethereum", "me", http.StatusBadRequest, "invalid_address"},
		"of another family":   {"ethereum", r.fresh("solana", "me"), http.StatusBadRequest, "invalid_address"},
		"our own wallet":      {"ethereum", r.on["ethereum"].Codec.Show(r.on["ethereum"].Own), http.StatusUnprocessableEntity, "recipient_unsupported"},
		"nobody on solana":    {"solana", "", http.StatusBadRequest, `"/fromAddress"`},
		"a payer on ethereum": {"ethereum", r.fresh("ethereum", "me"), http.StatusOK, "contract_call"},
	} {
		body := fields{"fromChainId": c.from, "fromToken": "native", "toChainId": "solana", "toToken": "native", "fundingMode": "contract_call"}
		if c.from == "solana" {
			body["toChainId"] = "ethereum"
		}
		body["amount"] = r.worth(place{c.from, map[string]string{"ethereum": "ETH", "solana": "SOL"}[c.from]}, "240").String()
		if c.by != "" {
			body["fromAddress"] = c.by
		}
		if code, text := r.insist(t, r.key, "/v2/quotes", body); code != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	for _, path := range []string{"/v2/chains/ethereum", "/v2/chains/solana", "/v2/routes?fromChainId=solana&fromToken=native&toChainId=ethereum&toToken=native"} {
		if code, text := r.ask(t, r.key, "", http.MethodGet, path, nil); code != http.StatusOK || !strings.Contains(string(text), `"fundingModes":["deposit_address","contract_call"]`) {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}

// reorganisedCall has the chain go back behind the payment while it is not final: the
// order is paid once all the same.
func reorganisedCall(w *trade) {
	t := w.t
	goesOn := w.stands(nodeOf(w.Network.grounds[w.order.Quote.Give.Chain])) // so that the payment is in the newest block
	defer goesOn()
	came := w.pay(100)
	if err := w.Network.Mine(t.Context(), w.from.slug, 1); err != nil {
		t.Fatal(err)
	}
	w.until("confirming")
	if err := w.Network.Reorg(t.Context(), w.from.slug, 1); err != nil {
		t.Fatal(err)
	}
	w.until("awaiting_deposit")
	goesOn()
	o := w.until("completed")
	w.arrived(o, "delivery", w.to, w.toAddr)
	if len(o.Payouts) != 1 || o.Actual.DepositedAmount != came.String() {
		t.Errorf("it was paid %s once, and the order knows of %+v and sent %+v", came, o.Deposits, o.Payouts)
	}
}
