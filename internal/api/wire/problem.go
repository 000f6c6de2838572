package wire

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/fault"
)

// Problem is one thing that is wrong with a request.
type Problem struct {
	Pointer string `json:"pointer" doc:"JSON pointer into the body, or ? and the name of a query parameter." example:"/toAddress"`
	Code    string `json:"code" doc:"What is wrong with it." example:"missing_field"`
	Message string `json:"message" doc:"What is wrong with it, for people; it never repeats the value." example:"is required"`
}

// finding is a problem and, for a retired name, the field to use instead.
type finding struct {
	Problem
	useInstead string
}

// maxProblems bounds a refusal: a body of 64 KiB could be wrong ten thousand times.
const maxProblems = 1000

// ProblemsKey is the detail of a fault under which its problems are found.
const ProblemsKey = "errors"

// Invalid is the refusal of a request for these problems.
func Invalid(problems ...Problem) *fault.Error {
	findings := make([]finding, 0, len(problems))
	for _, p := range problems {
		findings = append(findings, finding{Problem: p})
	}
	return refuse(findings)
}

// refuse makes one refusal of all problems. Its code is that of the problem which a
// caller has to understand first: a retired name, an unknown one, and otherwise the
// one code that all share.
func refuse(findings []finding) *fault.Error {
	code := findings[0].Code
	problems := make([]Problem, 0, len(findings))
	instead := map[string]string{}
	has := map[string]bool{}
	for _, p := range findings {
		problems = append(problems, p.Problem)
		has[p.Code] = true
		if p.Code != code {
			code = "invalid_request"
		}
		if p.useInstead != "" {
			instead[p.Pointer] = p.useInstead
		}
	}
	switch {
	case has["retired_field"]:
		code = "retired_field"
	case has["unknown_parameter"]:
		code = "unknown_parameter"
	case has["unknown_field"]:
		code = "unknown_field"
	}
	f := fault.New(fault.Invalid, code, "%s", sentence(problems)).With(ProblemsKey, problems)
	if len(instead) > 0 {
		f = f.With("useInstead", instead)
	}
	return f
}

// shown is how many problems the sentence names; all of them are in the list.
const shown = 3

func sentence(problems []Problem) string {
	parts := make([]string, 0, shown+1)
	for i, p := range problems {
		if i == shown {
			parts = append(parts, itoa(len(problems)-shown)+" more in errors")
			break
		}
		where := p.Pointer
		if where == "" {
			where = "the body"
		}
		parts = append(parts, clip(where)+" "+p.Message)
	}
	return strings.Join(parts, "; ") + "."
}

// clip keeps a sentence short whatever name a caller made up.
func clip(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// malformed turns the trouble of the JSON text into a refusal. The library's own
// words quote the text, so they are not passed on.
func malformed(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return fault.New(fault.Invalid, "malformed_json", "The body is not valid JSON: it ends too early.")
	}
	message := "is not valid JSON from byte " + itoa(int(syntax.ByteOffset)) + " on"
	if errors.Is(err, jsontext.ErrDuplicateName) {
		message = "is given twice"
	}
	return Invalid(Problem{Pointer: string(syntax.JSONPointer), Code: "malformed_json", Message: message})
}

// pointer is the JSON pointer of a path.
func pointer(path []string) string {
	var b strings.Builder
	for _, name := range path {
		b.WriteByte('/')
		b.WriteString(escaper.Replace(name))
	}
	return b.String()
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")
