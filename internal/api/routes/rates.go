package routes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/market"
)

// Rates are looked up at most once in ratesAge, however many ask, and never for more
// than a share of the time: where there are very many pairs they are kept for longer.
const (
	ratesAge     = time.Second
	ratesShare   = 10
	ratesTimeout = 5 * time.Second
	xmlMedia     = "application/xml"
)

const ratesExample = `<?xml version="1.0" encoding="UTF-8"?>
<rates><item><from>BTC</from><to>SOL</to><in>1</in><out>598.2</out><amount>19900</amount><minamount>0.00005556</minamount><maxamount>0.55555555</maxamount></item></rates>
`

// rateTable is the rates as they were written last.
type rateTable struct {
	rooms Rooms

	mu    sync.Mutex
	made  bool
	until time.Time // by the call's clock
	at    time.Time // by the deployment's
	all   []market.Indication
	err   error
	forms map[string]*api.Raw
}

func (r Rooms) rateRow() api.Operation {
	t := &rateTable{rooms: r}
	return api.Operation{
		ID: "listRates", Method: http.MethodGet, Path: "/v2/rates", Tag: "discovery", Summary: "Indicative rates of every pair",
		Description: "What each pair pays about now, at most a few seconds old. Nothing is promised: ask for a quote. Pairs that can not be exchanged now are left out. " +
			"With Accept: application/xml it is the form that monitors of exchanges read, where a coin goes by its symbol and a token by symbol and chain, such as USDCETHEREUM.",
		Key: api.OptionalKey, Spends: api.Requests, Out: wire.Rates{}, Cache: ratesAge,
		Forms: []api.Form{{Media: xmlMedia, Doc: "For monitors of exchanges; amounts are in whole units.", Example: ratesExample}},
		Do:    t.serve,
	}
}

// serve answers with the rates; the first caller after they grew old looks them up
// for all who wait.
func (t *rateTable) serve(c *api.Call) (any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.made || !c.Now.Before(t.until) {
		t.look(c)
	}
	if t.err != nil {
		return nil, t.err
	}
	form := c.Form()
	if raw := t.forms[form]; raw != nil {
		return raw, nil
	}
	raw, err := t.write(form)
	if err != nil {
		return nil, err
	}
	t.forms[form] = raw
	return raw, nil
}

// look asks for the rates. Trouble is kept for as long as they would be, so that it
// is not made worse; a caller who goes away does not end what others wait for.
func (t *rateTable) look(c *api.Call) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), ratesTimeout)
	defer cancel()
	began := time.Now()
	open := map[chain.ID]bool{}
	for _, one := range t.rooms.Atlas.Chains() {
		h, err := t.rooms.Health(ctx, one.ID)
		open[one.ID] = err == nil && !h.Paused && !h.Synced.IsZero()
	}
	var assets []chain.Asset
	for _, x := range t.rooms.Atlas.Tokens() {
		if open[x.Asset.Chain] {
			assets = append(assets, x.Asset)
		}
	}
	t.at = t.rooms.Now()
	t.all, t.err = t.rooms.Rates(ctx, assets, t.at)
	t.forms, t.made = map[string]*api.Raw{}, true
	t.until = c.Now.Add(max(ratesAge, ratesShare*time.Since(began)))
}

func (t *rateTable) write(form string) (*api.Raw, error) {
	raw := &api.Raw{Type: form}
	var err error
	if form == xmlMedia {
		raw.Type += "; charset=utf-8"
		raw.Body, err = wire.MonitorXML(t.all, t.rooms.Atlas)
	} else {
		raw.Body, err = wire.Bytes(wire.RatesOf(t.all, t.rooms.Atlas, t.at))
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw.Body)
	raw.ETag = `"` + hex.EncodeToString(sum[:16]) + `"`
	return raw, nil
}
