package wire

import "reflect"

// maxQuick bounds what is read the quick way: what is kept of a body keeps all of it.
const maxQuick = 1 << 10

// quick reads a body as clients write it: one flat object of known fields, each once,
// of plain texts, numbers and truth values, in which nothing is wrong. Of anything
// else it says no, and the decoder looks at the body from its beginning: quick refuses
// nothing by itself and takes nothing that the decoder would not take.
func quick(body []byte, shape *Shape, into reflect.Value) bool {
	if len(body) > maxQuick {
		return false
	}
	r := reader{text: string(body)} // once for all values
	var d decoder
	var seen uint64
	if !r.byte('{') {
		return false
	}
	for more := true; more; more = r.byte(',') {
		name, ok := r.plain()
		if !ok || !r.byte(':') {
			return false
		}
		i, known := shape.byName[name]
		if !known || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		f := &shape.Fields[i]
		v, ok := r.single()
		if !ok || f.Shape.Kind == Object || f.Shape.Kind == List || f.Shape.Kind == Map {
			return false
		}
		at := into.Field(f.index)
		if f.pointer {
			at.Set(reflect.New(f.Shape.Type))
			at = at.Elem()
		}
		if d.single(f.Shape, &f.Rules, at, v); len(d.problems) > 0 {
			return false
		}
	}
	return r.byte('}') && r.end() && shape.required&^seen == 0
}

// reader walks over a text; what is not plain it does not take.
type reader struct {
	text string
	at   int
}

// blank passes over what may stand between tokens.
func (r *reader) blank() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

func (r *reader) end() bool {
	r.blank()
	return r.at == len(r.text)
}

// byte takes that byte, if it is the next.
func (r *reader) byte(c byte) bool {
	r.blank()
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

// plain takes a text of printable ASCII without escapes.
func (r *reader) plain() (string, bool) {
	if !r.byte('"') {
		return "", false
	}
	from := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return r.text[from : r.at-1], true
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		}
	}
	return "", false
}

// single takes a value that has no parts and is not null.
func (r *reader) single() (jsonValue, bool) {
	r.blank()
	if r.at == len(r.text) {
		return jsonValue{}, false
	}
	switch c := r.text[r.at]; {
	case c == '"':
		text, ok := r.plain()
		return jsonValue{'"', text}, ok
	case c == 't':
		return jsonValue{'t', "true"}, r.word("true")
	case c == 'f':
		return jsonValue{'f', "false"}, r.word("false")
	case c == '-' || c >= '0' && c <= '9':
		text, ok := r.number()
		return jsonValue{'0', text}, ok
	}
	return jsonValue{}, false
}

func (r *reader) word(w string) bool {
	if len(r.text)-r.at < len(w) || r.text[r.at:r.at+len(w)] != w {
		return false
	}
	r.at += len(w)
	return true
}

// number takes digits with at most one point and no exponent.
func (r *reader) number() (string, bool) {
	from := r.at
	if r.text[r.at] == '-' {
		r.at++
	}
	whole := r.at
	r.digits()
	if n := r.at - whole; n == 0 || n > 1 && r.text[whole] == '0' {
		return "", false
	}
	if r.at < len(r.text) && r.text[r.at] == '.' {
		r.at++
		point := r.at
		r.digits()
		if r.at == point {
			return "", false
		}
	}
	return r.text[from:r.at], true
}

func (r *reader) digits() {
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
}
