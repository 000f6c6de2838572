package wire

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/market"
)

// Rates are indicative prices of every pair.
type Rates struct {
	AsOf  Time   `json:"asOf" example:"2026-01-01T00:00:00.000Z"`
	Rates []Rate `json:"rates"`
}

// Rate is the indicative price of a pair.
type Rate struct {
	FromChainID        string `json:"fromChainId" example:"bitcoin"`
	FromToken          string `json:"fromToken" example:"native"`
	FromSymbol         string `json:"fromSymbol" example:"BTC"`
	ToChainID          string `json:"toChainId" example:"solana"`
	ToToken            string `json:"toToken" example:"native"`
	ToSymbol           string `json:"toSymbol" example:"SOL"`
	Rate               string `json:"rate" doc:"Whole units that one whole unit buys, after the service's fee and before network fees." example:"598.2"`
	MinFrom            Amount `json:"minFromAmount" example:"5556"`
	MinFromDecimal     string `json:"minFromAmountDecimal" example:"0.00005556"`
	MaxFrom            Amount `json:"maxFromAmount" example:"55555555"`
	MaxFromDecimal     string `json:"maxFromAmountDecimal" example:"0.55555555"`
	AvailableTo        Amount `json:"availableToAmount" doc:"What there is to pay with now." example:"19900000000000"`
	AvailableToDecimal string `json:"availableToAmountDecimal" example:"19900"`
}

// RatesOf are indications as callers see them.
func RatesOf(all []market.Indication, a *desk.Atlas, at time.Time) Rates {
	w := Rates{AsOf: Time{at}, Rates: make([]Rate, 0, len(all))}
	for _, i := range all {
		w.Rates = append(w.Rates, Rate{
			FromChainID: a.Of(i.Give.Asset.Chain).Slug, FromToken: desk.TokenName(i.Give.Asset), FromSymbol: i.Give.Symbol,
			ToChainID: a.Of(i.Get.Asset.Chain).Slug, ToToken: desk.TokenName(i.Get.Asset), ToSymbol: i.Get.Symbol,
			Rate: i.Rate, MinFrom: Amount{i.Min}, MinFromDecimal: i.Min.Decimal(i.Give.Decimals),
			MaxFrom: Amount{i.Max}, MaxFromDecimal: i.Max.Decimal(i.Give.Decimals),
			AvailableTo: Amount{i.Most}, AvailableToDecimal: i.Most.Decimal(i.Get.Decimals),
		})
	}
	return w
}

// monitorRates is the form that monitors of exchanges read.
type monitorRates struct {
	XMLName xml.Name      `xml:"rates"`
	Items   []monitorItem `xml:"item"`
}

type monitorItem struct {
	From   string `xml:"from"`
	To     string `xml:"to"`
	In     string `xml:"in"`
	Out    string `xml:"out"`
	Amount string `xml:"amount"`
	Min    string `xml:"minamount"`
	Max    string `xml:"maxamount"`
}

// MonitorXML writes indications for monitors of exchanges. Amounts are in whole
// units: amount is what there is to pay with, the limits are of what is given.
func MonitorXML(all []market.Indication, a *desk.Atlas) ([]byte, error) {
	codes := monitorCodes(a)
	var w monitorRates
	for _, i := range all {
		from, to := codes[i.Give.Asset], codes[i.Get.Asset]
		if from == "" || to == "" {
			continue
		}
		w.Items = append(w.Items, monitorItem{
			From: from, To: to, In: "1", Out: i.Rate, Amount: i.Most.Decimal(i.Get.Decimals),
			Min: i.Min.Decimal(i.Give.Decimals), Max: i.Max.Decimal(i.Give.Decimals),
		})
	}
	text, err := xml.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("rates for monitors: %w", err)
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}

// monitorCodes names assets for monitors, which know them by one word: a coin by its
// symbol, a token by its symbol and chain, and a coin that several chains have so,
// too. A word that would still be of two assets is of none: a pair that is not shown
// harms nobody, one that is taken for another does.
func monitorCodes(a *desk.Atlas) map[chain.Asset]string {
	coins, taken := map[string]int{}, map[string]int{}
	for _, t := range a.Tokens() {
		if t.Asset.IsNative() {
			coins[capitals(t.Symbol)]++
		}
	}
	codes := map[chain.Asset]string{}
	for _, t := range a.Tokens() {
		code := capitals(t.Symbol)
		if code != "" && (!t.Asset.IsNative() || coins[code] > 1) {
			code += capitals(a.Of(t.Asset.Chain).Slug)
		}
		codes[t.Asset] = code
		taken[code]++
	}
	for x, code := range codes {
		if taken[code] > 1 || code == "" {
			delete(codes, x)
		}
	}
	return codes
}

// capitals is a text in capitals, with nothing but letters and digits.
func capitals(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToUpper(text))
}
