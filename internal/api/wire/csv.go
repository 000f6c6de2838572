package wire

import (
	"bytes"
	"strings"

	"ferry/internal/money"
)

// column is one column of a list of orders.
type column struct {
	name string
	cell func(o *AttributedOrder) string
}

// columns are those of a list of orders, named as the fields are. New ones are added
// at the end.
var columns = []column{
	{"orderId", func(o *AttributedOrder) string { return o.OrderID }},
	{"kind", func(o *AttributedOrder) string { return o.Kind }},
	{"status", func(o *AttributedOrder) string { return o.Status }},
	{"feeStatus", func(o *AttributedOrder) string { return o.FeeStatus }},
	{"feeStatusReason", func(o *AttributedOrder) string { return orNothing(o.FeeStatusReason) }},
	{"integratorFeePercent", func(o *AttributedOrder) string {
		return ofFee(o, func(f *IntegratorFee) string { return money.Percent(f.Percent).String() })
	}},
	{"integratorFeeAmountUsd", func(o *AttributedOrder) string {
		return ofFee(o, func(f *IntegratorFee) string { return money.USD(f.AmountUSD).String() })
	}},
	{"integratorFeePayoutAddress", func(o *AttributedOrder) string {
		return ofFee(o, func(f *IntegratorFee) string { return f.PayoutAddress })
	}},
	{"feePayoutTxHash", func(o *AttributedOrder) string { return orNothing(o.FeePayoutTxHash) }},
	{"keyId", func(o *AttributedOrder) string { return o.KeyID }},
	{"keyKind", func(o *AttributedOrder) string { return o.KeyKind }},
	{"fromChainId", func(o *AttributedOrder) string { return o.From.ChainID }},
	{"fromSymbol", func(o *AttributedOrder) string { return o.From.Symbol }},
	{"fromAmount", func(o *AttributedOrder) string { return o.From.Amount.String() }},
	{"fromAmountUsd", func(o *AttributedOrder) string { return money.USD(o.From.AmountUSD).String() }},
	{"toChainId", func(o *AttributedOrder) string { return o.To.ChainID }},
	{"toSymbol", func(o *AttributedOrder) string { return o.To.Symbol }},
	{"toAmount", func(o *AttributedOrder) string { return o.To.Amount.String() }},
	{"toAmountUsd", func(o *AttributedOrder) string { return money.USD(o.To.AmountUSD).String() }},
	{"clientReference", func(o *AttributedOrder) string { return orNothing(o.ClientReference) }},
	{"createdAt", func(o *AttributedOrder) string { return timeText(&o.CreatedAt) }},
	{"updatedAt", func(o *AttributedOrder) string { return timeText(&o.UpdatedAt) }},
	{"expiresAt", func(o *AttributedOrder) string { return timeText(&o.ExpiresAt) }},
	{"completedAt", func(o *AttributedOrder) string { return timeText(o.CompletedAt) }},
}

func orNothing(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func ofFee(o *AttributedOrder, cell func(*IntegratorFee) string) string {
	if o.IntegratorFee == nil {
		return ""
	}
	return cell(o.IntegratorFee)
}

func timeText(t *Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(timeForm)
}

// CSV writes a list of orders with a header line, as RFC 4180 has it. What is nothing
// is an empty cell.
func (o AttributedOrders) CSV() []byte {
	var b bytes.Buffer
	for i, c := range columns {
		writeCell(&b, i, c.name)
	}
	b.WriteString("\r\n")
	for i := range o.Orders {
		for n, c := range columns {
			writeCell(&b, n, c.cell(&o.Orders[i]))
		}
		b.WriteString("\r\n")
	}
	return b.Bytes()
}

// writeCell writes one cell after those before it.
func writeCell(b *bytes.Buffer, before int, text string) {
	if before > 0 {
		b.WriteByte(',')
	}
	text = defused(text)
	if !strings.ContainsAny(text, ",\"\r\n") && strings.TrimSpace(text) == text {
		b.WriteString(text)
		return
	}
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(text, `"`, `""`))
	b.WriteByte('"')
}

// defused keeps a spreadsheet from taking a text for a formula: some of the cells are
// what end users wrote.
func defused(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
