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
func drawLive(info contract.Info, live *contract.Live) ([]byte, error) {
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
	return page.Bytes(), nil
}

// liveRows serve the page. They are in no contract.
func (d *Door) liveRows() []Operation {
	file := func(id, path, media string, body func() []byte) Operation {
		return Operation{
			ID: id, Method: http.MethodGet, Path: path, Key: OptionalKey, Spends: Requests, Cache: time.Minute, Produces: media,
			Do: func(c *Call) (any, error) {
				c.SetHeader("Content-Security-Policy", livePolicy)
				return &Raw{Type: media, Body: body()}, nil
			},
		}
	}
	fixed := func(body []byte) func() []byte { return func() []byte { return body } }
	return []Operation{
		file("getLivePage", "/docs/live", "text/html; charset=utf-8", func() []byte { return d.livePage }),
		file("getLiveStyle", "/docs/live.css", "text/css; charset=utf-8", fixed(liveStyle)),
		file("getLiveScript", "/docs/live.js", scriptMedia, fixed(liveScript)),
	}
}
