package tail

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/money"
	"ferry/internal/order"
)

// Printer writes events, a line each.
type Printer struct {
	Out    io.Writer
	JSON   bool // as they came
	Colour bool
	// Whose shows the integrator of each.
	Whose bool
	// Decimals are those of an asset of a chain, where they are known; nil knows none.
	Decimals func(chainID, symbol string) (int, bool)
}

// Show prints an item.
func (p *Printer) Show(i Item) error {
	if p.JSON {
		text := jsontext.Value(append([]byte(nil), i.Text...))
		if err := text.Compact(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.Out, "%s\n", text)
		return err
	}
	var b body
	if err := json.Unmarshal(i.Text, &b); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.Out, p.line(i, &b))
	return err
}

// Widths of the columns, for what is in them at most.
const (
	numberWidth = 7
	orderWidth  = 9
	stateWidth  = 16
	eventWidth  = 24
	sumWidth    = 16
	whoseWidth  = 9
)

// line is one event for people. Its columns stand where they stood before.
func (p *Printer) line(i Item, b *body) string {
	o := &b.Data.Order
	at, event, from := b.OccurredAt, b.Event, b.Data.From
	if i.Kind == Snapshot {
		at, event, from = o.UpdatedAt, "(as it is)", ""
	}
	parts := []string{
		at.UTC().Format(time.DateTime),
		lead(fmt.Sprintf("#%d", i.Seq), numberWidth),
		pad(short(b.order()), orderWidth),
		p.states(from, b.status()),
		pad(plain(event), eventWidth),
		lead(p.sum(o.From), sumWidth) + " → " + pad(p.sum(o.To), sumWidth),
	}
	if p.Whose {
		whose := "-"
		if b.Integrator != "" {
			whose = short(b.Integrator)
		}
		parts = append(parts, pad(whose, whoseWidth))
	}
	if why := plain(o.Failure.Code); why != "" && (b.status() == string(order.Held) || b.status() == string(order.Failed)) {
		parts = append(parts, why)
	}
	if tx := plain(b.tx()); tx != "" {
		parts = append(parts, "tx "+tx)
	}
	return strings.TrimRight(strings.Join(parts, "  "), " ")
}

// states are where the order came from and where it is.
func (p *Printer) states(from, to string) string {
	from, to = plain(from), plain(to)
	arrow := "→"
	switch from {
	case "":
		arrow = " "
	case to:
		from, arrow = "", " " // it stayed
	}
	colour, end := "", ""
	if p.Colour {
		colour, end = colours[order.State(to)], "\x1b[0m"
	}
	return pad(from, stateWidth) + " " + arrow + " " + colour + pad(to, stateWidth) + end
}

// colours say how an order does: well, badly, at an end without money, or under way.
var colours = map[order.State]string{
	order.Completed: "\x1b[32m", order.Failed: "\x1b[31m", order.Held: "\x1b[33m", order.Refunding: "\x1b[33m", order.Refunded: "\x1b[33m",
	order.Expired: "\x1b[90m", order.Awaiting: "\x1b[90m", order.Confirming: "\x1b[36m", order.Executing: "\x1b[36m", order.Sending: "\x1b[36m",
}

// sum is an amount with its symbol: in whole units where their size is known, and
// otherwise what it is worth, since smallest units would be read as whole ones.
func (p *Printer) sum(s side) string {
	text := s.Decimal
	if text == "" && p.Decimals != nil {
		if n, known := p.Decimals(s.ChainID, s.Symbol); known {
			if a, err := money.Parse(s.Amount); err == nil {
				text = a.Decimal(n)
			}
		}
	}
	if text == "" {
		return "$" + plain(s.USD) + " of " + plain(s.Symbol)
	}
	return clip(plain(text)) + " " + plain(s.Symbol)
}

// clip leaves out what nobody reads of an amount, and says so.
func clip(text string) string {
	const most = 8
	if point := strings.IndexByte(text, '.'); point >= 0 && len(text) > point+1+most {
		return text[:point+1+most] + "…"
	}
	return text
}

// short is an id as people tell it from others: by its end, which is all chance.
func short(id string) string {
	const most = 8
	id = plain(id)
	if utf8.RuneCountInString(id) <= most {
		return id
	}
	return "…" + id[len(id)-most:]
}

func lead(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// plain is a text of somebody else without what would move a terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
