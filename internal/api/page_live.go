package api

import (
	"bytes"
	_ "embed" // the files of the page
	"fmt"
	"html/template"
	"net/http"
	"time"

	"ferry/internal/api/contract"
)

// The reference of the live socket for people: made here from the same table as its
// contract, so that it is there without a script.
var (
	//go:embed page/live.html
	livePage string
	//go:embed page/live.css
	liveStyle []byte
	//go:embed page/live.js
	liveScript []byte
)

// livePolicy lets the page speak with this door, and nothing else.
const livePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// drawLive makes the page. The table never changes while the door is open.
func drawLive(info contract.Info, live *contract.Live) (*Raw, error) {
	view, err := contract.ViewLive(info, live)
	if err != nil {
		return nil, err
	}
	t, err := template.New("live").Parse(livePage)
	if err != nil {
		return nil, fmt.Errorf("the page of the live socket: %w", err)
	}
	var page bytes.Buffer
	if err := t.Execute(&page, view); err != nil {
		return nil, fmt.Errorf("the page of the live socket: %w", err)
	}
	return fixed(pageMedia, page.Bytes()), nil
}

const (
	pageMedia  = "text/html; charset=utf-8"
	styleMedia = "text/css; charset=utf-8"
)

// fixed is a body that never changes, named once.
func fixed(media string, body []byte) *Raw { return &Raw{Type: media, Body: body, ETag: tagOf(body)} }

// liveRows serve the page. They are in no contract.
func (d *Door) liveRows() []Operation {
	file := func(id, path, media string, raw func() *Raw) Operation {
		return Operation{
			ID: id, Method: http.MethodGet, Path: path, Key: OptionalKey, Spends: Requests, Cache: time.Minute, Produces: media,
			Do: func(c *Call) (any, error) {
				c.SetHeader("Content-Security-Policy", livePolicy)
				return raw(), nil
			},
		}
	}
	style, script := fixed(styleMedia, liveStyle), fixed(scriptMedia, liveScript)
	return []Operation{
		file("getLivePage", "/docs/live", pageMedia, func() *Raw { return d.livePage }), // drawn after the table is known
		file("getLiveStyle", "/docs/live.css", styleMedia, func() *Raw { return style }),
		file("getLiveScript", "/docs/live.js", scriptMedia, func() *Raw { return script }),
	}
}
