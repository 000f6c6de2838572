package api

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the files of the page
	"io"
	"net/http"
	"sync"
	"time"
)

// The reference for people: a page that reads /v2/docs in the browser. Everything it
// needs is here; it loads nothing from anywhere else.
var (
	//go:embed page/index.html
	pageHTML []byte
	//go:embed page/start.js
	pageStart []byte
	//go:embed page/reference.js.gz
	pageReference []byte
)

// pagePolicy lets the page run its own scripts and ask this door, and nothing else.
// The styles are made by the script, which needs them inline.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; worker-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const scriptMedia = "text/javascript; charset=utf-8"

// pageRows serve the page. They are in no contract.
func pageRows() []Operation {
	reference := &Raw{
		Type: scriptMedia, Zip: pageReference, ETag: tagOf(pageReference),
		Full: sync.OnceValue(func() []byte {
			z, err := gzip.NewReader(bytes.NewReader(pageReference))
			if err != nil {
				panic(err) // the file is in the binary: it is whole or the tests fail
			}
			text, err := io.ReadAll(z)
			if err != nil {
				panic(err)
			}
			return text
		}),
	}
	file := func(id, path string, age time.Duration, raw *Raw) Operation {
		return Operation{
			ID: id, Method: http.MethodGet, Path: path, Key: OptionalKey, Spends: Requests, Cache: age, Produces: raw.Type,
			Do: func(c *Call) (any, error) {
				c.SetHeader("Content-Security-Policy", pagePolicy)
				return raw, nil
			},
		}
	}
	return []Operation{
		file("getPage", "/docs", time.Minute, &Raw{Type: pageMedia, Body: pageHTML}),
		file("getPageStart", "/docs/start.js", time.Minute, &Raw{Type: scriptMedia, Body: pageStart}),
		file("getPageReference", "/docs/reference.js", 5*time.Minute, reference),
	}
}
