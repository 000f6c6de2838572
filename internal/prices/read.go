package prices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// maxBody is the most that is read of a document of prices.
const maxBody = 1 << 20

// errDocument: the document is not one of prices. It never quotes the document.
var errDocument = errors.New("not a document of prices")

// readAll reads a document that is not larger than it may be.
func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxBody {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", errDocument, maxBody)
	}
	return b, nil
}

// tree reads JSON with its numbers as text. Names that stand twice, and anything
// after the value, are refused: nobody can say which price was meant.
func tree(b []byte) (any, error) {
	if !jsontext.Value(b).IsValid() {
		return nil, fmt.Errorf("%w: it is not JSON, or a name stands in it twice", errDocument)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("%w: it is not JSON", errDocument)
	}
	return v, nil
}

// parseDocument reads {"prices": {"BTC": {"price": "97100.5", "at": "…Z"}}}. A price
// may be a string or a number. Where it has no time it is from otherwise; a zero
// otherwise refuses it.
func parseDocument(b []byte, otherwise time.Time) (map[string]Quote, error) {
	v, err := tree(b)
	if err != nil {
		return nil, err
	}
	top, _ := v.(map[string]any)
	list, ok := top["prices"].(map[string]any)
	if !ok || len(top) != 1 {
		return nil, fmt.Errorf(`%w: want {"prices": {"BTC": {"price": "1.5", "at": "2026-01-02T03:04:05Z"}}}`, errDocument)
	}
	quotes := make(map[string]Quote, len(list))
	for symbol, entry := range list {
		e, ok := entry.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%w: %q has no price", errDocument, short(symbol))
		}
		for name := range e {
			if name != "price" && name != "at" {
				return nil, fmt.Errorf("%w: %q has %q; want price and at", errDocument, short(symbol), short(name))
			}
		}
		q := Quote{Price: textOf(e["price"]), At: otherwise}
		if at, given := e["at"]; given || otherwise.IsZero() {
			if q.At, ok = timeOf(at); !ok {
				return nil, fmt.Errorf("%w: %q has no time; write such as \"2026-01-02T03:04:05Z\"", errDocument, short(symbol))
			}
		}
		quotes[symbol] = q
	}
	return quotes, nil
}

// Field is where a foreign document has a price, as JSON pointers: "/bitcoin/usd".
type Field struct {
	Price string
	At    string // empty: the price is from when it was asked for
}

// pick reads the fields of a foreign document. One that is not there is an error, and
// so is a time that cannot be read: a price without its time could be of any age.
func pick(b []byte, fields map[string]Field, now time.Time) (map[string]Quote, error) {
	v, err := tree(b)
	if err != nil {
		return nil, err
	}
	quotes := make(map[string]Quote, len(fields))
	var errs []error
	for symbol, f := range fields {
		price, ok := at(v, f.Price)
		if !ok {
			errs = append(errs, fmt.Errorf("%w: %s is not at its place", errDocument, symbol))
			continue
		}
		q := Quote{Price: textOf(price), At: now}
		if f.At != "" {
			when, _ := at(v, f.At)
			if q.At, ok = timeOf(when); !ok {
				errs = append(errs, fmt.Errorf("%w: the time of %s is not at its place", errDocument, symbol))
				continue
			}
		}
		quotes[symbol] = q
	}
	return quotes, errors.Join(errs...)
}

// at follows a JSON pointer to something inside.
func at(v any, pointer string) (any, bool) {
	if pointer == "" || pointer[0] != '/' {
		return nil, false
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// textOf is the text of a price; empty, which is no price, for anything else.
func textOf(v any) string {
	switch p := v.(type) {
	case string:
		return p
	case json.Number:
		return p.String()
	}
	return ""
}

// timeOf reads RFC 3339 text, or whole seconds or milliseconds since 1970.
func timeOf(v any) (time.Time, bool) {
	const firstMilli = 100_000_000_000 // as seconds this would be the year 5138
	if s, ok := v.(string); ok {
		if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return t.UTC(), true
		}
	}
	n, err := strconv.ParseInt(textOf(v), 10, 64)
	switch {
	case err != nil || n <= 0:
		return time.Time{}, false
	case n < firstMilli:
		return time.Unix(n, 0).UTC(), true
	}
	return time.UnixMilli(n).UTC(), true
}

// short keeps error texts short whatever a source sends.
func short(s string) string {
	if len(s) > 32 {
		return s[:32] + "…"
	}
	return s
}
