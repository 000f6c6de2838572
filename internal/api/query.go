package api

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ferry/internal/api/wire"
	"ferry/internal/fault"
)

// verifyParam is the one query parameter that is a proof.
const verifyParam = "verify"

var errSecretInURL = fault.New(fault.Invalid, "secret_in_url",
	"A session was sent in the URL. Send it as the header X-Session-ID, and treat the one that was sent as known to others.")

// pair is one name and value of a query.
type pair struct{ name, value string }

// readQuery reads a raw query strictly: only parameters of the row, each once and
// well formed. A session in it is refused before anything else is said. Both & and ;
// part the pairs, so that nothing hides behind the one a parser does not know.
func readQuery(raw string, o *Operation) ([]pair, error) {
	if raw == "" && !slices.ContainsFunc(o.Query, func(p Param) bool { return p.Required }) {
		return nil, nil
	}
	var pairs []pair
	var problems []wire.Problem
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(part, "=")
		p := pair{lenient(name), lenient(value)}
		if namesSession(p.name) || holdsSession(p.name) || holdsSession(p.value) {
			return nil, errSecretInURL
		}
		if _, err := url.QueryUnescape(part); err != nil || !utf8.ValidString(p.name+p.value) || strings.ContainsRune(p.value, 0) {
			problems = append(problems, wire.Problem{Pointer: shownName(p.name), Code: "invalid_field", Message: "is not valid percent-encoded UTF-8"})
			continue
		}
		pairs = append(pairs, p)
	}
	problems = append(problems, judge(pairs, o)...)
	if len(problems) > 0 {
		return nil, wire.Invalid(problems...)
	}
	return pairs, nil
}

// lenient decodes what can be decoded: a broken escape must not hide a secret.
func lenient(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	if t, err := url.QueryUnescape(s); err == nil {
		return t
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// folded is a name without case and without the marks that spellings differ by.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_. []", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

func namesSession(name string) bool {
	switch folded(name) {
	case "sessionid", "xsessionid", "session":
		return true
	}
	return false
}

// Sessions are ses_ and this many base64url characters.
const (
	sessionPrefix = "ses_"
	sessionLen    = 43
)

func holdsSession(text string) bool {
	for {
		i := strings.Index(text, sessionPrefix)
		if i < 0 {
			return false
		}
		text = text[i+len(sessionPrefix):]
		n := 0
		for n < len(text) && n < sessionLen && isBase64URL(text[n]) {
			n++
		}
		if n == sessionLen {
			return true
		}
	}
}

func isBase64URL(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_'
}

// shownName is how a refusal names a parameter.
func shownName(name string) string {
	const most = 64
	name = strings.ToValidUTF8(name, "\uFFFD")
	if r := []rune(name); len(r) > most {
		name = string(r[:most]) + "…"
	}
	return "?" + name
}

// judge says what is wrong with the pairs for a row.
func judge(pairs []pair, o *Operation) []wire.Problem {
	var problems []wire.Problem
	say := func(name, code, message string) {
		problems = append(problems, wire.Problem{Pointer: shownName(name), Code: code, Message: message})
	}
	seen := map[string]bool{}
	for _, p := range pairs {
		if p.name == verifyParam && o.Proof != NoProof {
			continue // a proof: whoever judges it counts its values
		}
		i := slices.IndexFunc(o.Query, func(known Param) bool { return known.Name == p.name })
		if i < 0 {
			say(p.name, "unknown_parameter", "is not a parameter of this operation")
			continue
		}
		if seen[p.name] {
			say(p.name, "invalid_field", "is given more than once")
			continue
		}
		seen[p.name] = true
		if message := wrongValue(p.value, &o.Query[i]); message != "" {
			say(p.name, "invalid_field", message)
		}
	}
	for _, known := range o.Query {
		if known.Required && !seen[known.Name] {
			say(known.Name, "missing_field", "is required")
		}
	}
	return problems
}

func wrongValue(value string, p *Param) string {
	switch p.Kind {
	case FlagParam:
		if value != "true" && value != "false" {
			return "must be true or false"
		}
	case WholeParam:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != value {
			return "must be a whole number"
		}
		if (p.Min != 0 || p.Max != 0) && (n < p.Min || n > p.Max) {
			return "must be from " + strconv.FormatInt(p.Min, 10) + " to " + strconv.FormatInt(p.Max, 10)
		}
	default:
		switch n := utf8.RuneCountInString(value); {
		case n == 0:
			return "must not be empty"
		case n > p.Limit():
			return "must have at most " + strconv.Itoa(p.Limit()) + " characters"
		}
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, value) {
		return "must be one of " + strings.Join(p.Enum, ", ")
	}
	return ""
}
