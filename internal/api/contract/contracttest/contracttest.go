package contracttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	problems "github.com/pb33f/libopenapi-validator/errors"
)

// Checker holds requests and answers to one document.
type Checker struct {
	validator validator.Validator
	paths     map[string]map[string]operation // by template, then by method
}

// operation is what the validator does not look at: which codes a status may carry.
type operation struct {
	Responses map[string]struct {
		Codes []string `json:"x-codes"`
	} `json:"responses"`
}

// New reads a document, which must be sound.
func New(t testing.TB, document []byte) *Checker {
	t.Helper()
	doc, err := libopenapi.NewDocument(document)
	if err != nil {
		t.Fatalf("the contract cannot be read: %v", err)
	}
	if _, err := doc.BuildV3Model(); err != nil {
		t.Fatalf("the contract has no model: %v", err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatalf("the contract cannot be checked: %v", errs)
	}
	if ok, errs := v.ValidateDocument(); !ok {
		t.Fatalf("the contract is not OpenAPI 3.1:%s", told(errs))
	}
	var codes struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal(document, &codes); err != nil {
		t.Fatalf("the contract cannot be read: %v", err)
	}
	return &Checker{validator: v, paths: codes.Paths}
}

// Check fails the test if the contract does not allow this answer to this request.
func (c *Checker) Check(t testing.TB, req *http.Request, resp *http.Response, body []byte) {
	t.Helper()
	answer := *resp
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if ok, errs := c.validator.ValidateHttpResponse(req, &answer); !ok {
		t.Errorf("the contract does not allow this answer to %s %s: %d %s%s", req.Method, req.URL.Path, resp.StatusCode, body, told(errs))
	}
	if resp.Header.Get("Content-Type") != "application/problem+json" {
		return
	}
	var said struct {
		Code   string `json:"code"`
		Status int    `json:"status"`
	}
	if err := json.Unmarshal(body, &said); err != nil || said.Status != resp.StatusCode {
		t.Errorf("a refusal of %s %s with status %d says %s", req.Method, req.URL.Path, resp.StatusCode, body)
	}
	if allowed, known := c.codes(req, resp.StatusCode); known && !slices.Contains(allowed, said.Code) {
		t.Errorf("the contract does not list %q for %d of %s %s", said.Code, resp.StatusCode, req.Method, req.URL.Path)
	}
}

// codes are those that the contract lists for a status of the operation that a
// request is of, if it is of one.
func (c *Checker) codes(req *http.Request, status int) ([]string, bool) {
	path := strings.Split(req.URL.Path, "/")
	for template, methods := range c.paths {
		parts := strings.Split(template, "/")
		fits := len(parts) == len(path)
		for i := 0; fits && i < len(parts); i++ {
			fits = parts[i] == path[i] || strings.HasPrefix(parts[i], "{")
		}
		if op, ok := methods[strings.ToLower(req.Method)]; fits && ok {
			return op.Responses[strconv.Itoa(status)].Codes, true
		}
	}
	return nil, false
}

// Allows reports whether the contract takes a request, and why not.
func (c *Checker) Allows(req *http.Request) (bool, string) {
	ok, errs := c.validator.ValidateHttpRequestSync(req)
	return ok, told(errs)
}

func told(errs []*problems.ValidationError) string {
	var b bytes.Buffer
	for _, e := range errs {
		b.WriteString("\n  " + e.Message + ": " + e.Reason)
		for _, s := range e.SchemaValidationErrors {
			b.WriteString("\n    " + s.FieldPath + ": " + s.Reason)
		}
	}
	return b.String()
}
