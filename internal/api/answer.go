package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"ferry/internal/api/wire"
)

// Raw is an answer that is already bytes: a document, a page, a table for people.
type Raw struct {
	Type string // media type
	Body []byte
	ETag string        // quoted; made from Body if empty
	Zip  []byte        // Body compressed, if there is such a thing
	Full func() []byte // makes Body when it is asked for uncompressed, if Body is nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKept is the largest buffer that is kept for the next answer.
const maxKept = 1 << 20

// answer writes a good answer. An error means that nothing was written yet.
func (d *Door) answer(c *Call, v any) error {
	status := c.status
	if status == 0 {
		status = c.op.Status
	}
	switch v := v.(type) {
	case nil:
		if c.op != nil && (c.op.Out != nil || status == http.StatusSwitchingProtocols) {
			return fmt.Errorf("%s promises an answer and gave none", c.op.ID)
		}
		c.send(status, nil, false)
		return nil
	case *Raw:
		c.raw(status, v)
		return nil
	case *Switch:
		return c.switchOver(v)
	}
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	defer func() {
		if b.Cap() <= maxKept {
			buffers.Put(b)
		}
	}()
	if err := wire.Encode(b, v); err != nil {
		return fmt.Errorf("encode the answer of %s: %w", c.op.ID, err)
	}
	c.out.Set("Content-Type", jsonMedia)
	if c.cached("", b.Bytes()) {
		return nil
	}
	c.send(status, b.Bytes(), false)
	return nil
}

func (c *Call) raw(status int, v *Raw) {
	body := v.Body
	c.out.Set("Content-Type", v.Type)
	if v.Zip != nil {
		c.out.Add("Vary", "Accept-Encoding")
	}
	if c.cached(v.ETag, body) {
		return
	}
	switch {
	case v.Zip != nil && takesGzip(c.asked.header):
		c.out.Set("Content-Encoding", "gzip")
		body = v.Zip
	case body == nil && v.Full != nil:
		body = v.Full()
	}
	c.send(status, body, true)
}

func takesGzip(h http.Header) bool {
	for _, accepted := range h["Accept-Encoding"] {
		for part := range strings.SplitSeq(accepted, ",") {
			name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
			if strings.EqualFold(name, "gzip") && strings.ReplaceAll(weight, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}

// cached says how long the answer may be kept and, if the caller has this very one
// already, says only that.
func (c *Call) cached(etag string, body []byte) bool {
	if c.op == nil || c.op.Cache <= 0 {
		return false
	}
	if etag == "" {
		etag = tagOf(body)
	}
	c.SetHeader("Cache-Control", "public, max-age="+strconv.Itoa(int(c.op.Cache/time.Second)))
	c.SetHeader("ETag", etag)
	if !matches(c.asked.header["If-None-Match"], etag) {
		return false
	}
	c.out.Del("Content-Type")
	c.send(http.StatusNotModified, nil, false)
	return true
}

// tagOf is the ETag of a body.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

func matches(wanted []string, etag string) bool {
	for _, list := range wanted {
		for one := range strings.SplitSeq(list, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// send sends status and body. A caller who went away is no trouble of ours.
func (c *Call) send(status int, body []byte, lasts bool) {
	c.log.status = status
	c.writer.send(status, &c.out, body, lasts)
}
