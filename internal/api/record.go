package api

import (
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"time"

	"ferry/internal/api/wire"
)

// line is what the log says of a request beyond its row.
type line struct {
	began    time.Time
	status   int
	code     string
	admitted bool
}

// written logs one line: what was asked for and how it went, and nothing that was
// said. Paths are templates, so no id, address or secret of a URL gets in.
func (d *Door) written(c *Call) {
	if !d.cfg.Log.Enabled(c.Context(), slog.LevelInfo) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs,
		slog.String("requestId", c.ID),
		slog.String("method", c.method()),
		slog.String("route", c.template()),
		slog.Int("status", c.log.status),
		slog.Duration("took", d.cfg.Now().Sub(c.log.began)),
	)
	if c.log.code != "" {
		attrs = append(attrs, slog.String("code", c.log.code))
	}
	if c.log.admitted && c.Who.Integrator != nil {
		attrs = append(attrs, slog.String("integrator", string(c.Who.Integrator.ID)))
	}
	if c.log.admitted && c.Who.Key != nil {
		attrs = append(attrs, slog.String("key", string(c.Who.Key.ID)))
	}
	d.cfg.Log.LogAttrs(c.Context(), slog.LevelInfo, "request", attrs...)
}

// template is the path as the table has it.
func (c *Call) template() string {
	if c.route == nil {
		return "none"
	}
	return c.route.template
}

// method is the method if it is one of ours: a caller may make up any.
func (c *Call) method() string {
	switch m := c.asked.method; m {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return m
	}
	return "other"
}

// requestID is req_ and 128 random bits. Nobody may do anything for knowing one, so
// that the runtime's own generator will do, which is much faster than the system's.
func requestID() string {
	var raw [16]byte
	binary.LittleEndian.PutUint64(raw[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(raw[8:], rand.Uint64())
	var text [30]byte
	copy(text[:], "req_")
	wire.Crockford.Encode(text[4:], raw[:])
	return string(text[:])
}
