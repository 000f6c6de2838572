package api

import (
	"mime"
	"strconv"
	"strings"

	"ferry/internal/fault"
)

// choose picks the form of the answer by Accept: the one that is liked most, the
// earlier of two that are liked the same. A row without forms answers in its own,
// whatever is accepted; so does every row that is not told.
func (c *Call) choose() error {
	c.form = jsonMedia
	if len(c.op.Forms) == 0 {
		return nil
	}
	c.out.Add("Vary", "Accept")
	ranges, told := rangesOf(c.asked.header["Accept"])
	if !told {
		return nil
	}
	best := weightOf(jsonMedia, ranges)
	offered := []string{jsonMedia}
	for _, f := range c.op.Forms {
		offered = append(offered, f.Media)
		if w := weightOf(f.Media, ranges); w > best {
			c.form, best = f.Media, w
		}
	}
	if best > 0 {
		return nil
	}
	return fault.New(fault.Invalid, "not_acceptable", "This answer comes as %s. Send one of them as Accept, or no Accept.", strings.Join(offered, ", ")).
		With("offered", offered)
}

// mediaRange is one thing that a caller accepts, and how much in thousandths.
type mediaRange struct {
	media  string
	weight int
}

// maxRanges is how many ranges are looked at; nobody means more.
const maxRanges = 64

// rangesOf reads Accept, and reports whether it says anything. What cannot be read
// accepts nothing.
func rangesOf(headers []string) (ranges []mediaRange, told bool) {
	for part := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		told = true
		media, params, err := mime.ParseMediaType(part)
		if err != nil || len(ranges) == maxRanges {
			continue
		}
		if weight, ok := thousandths(params["q"]); ok {
			ranges = append(ranges, mediaRange{media, weight})
		}
	}
	return ranges, told
}

// thousandths reads a weight from 0 to 1; none is 1.
func thousandths(q string) (int, bool) {
	if q == "" {
		return 1000, true
	}
	if len(q) > len("0.999") || strings.Trim(q, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(q, 64)
	if err != nil || f > 1 {
		return 0, false
	}
	return int(f*1000 + 0.5), true
}

// weightOf is how much a media type is liked: what the closest range says.
func weightOf(media string, ranges []mediaRange) int {
	kind, _, _ := strings.Cut(media, "/")
	weight, closest := 0, 0
	for _, r := range ranges {
		near := 0
		switch r.media {
		case media:
			near = 3
		case kind + "/*":
			near = 2
		case "*/*":
			near = 1
		}
		if near > closest {
			weight, closest = r.weight, near
		}
	}
	return weight
}
