package contracttest

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	problems "github.com/pb33f/libopenapi-validator/errors"
)

// Checker holds requests and answers to one document.
type Checker struct{ validator validator.Validator }

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
	return &Checker{validator: v}
}

// Check fails the test if the contract does not allow this answer to this request.
func (c *Checker) Check(t testing.TB, req *http.Request, resp *http.Response, body []byte) {
	t.Helper()
	answer := *resp
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if ok, errs := c.validator.ValidateHttpResponse(req, &answer); !ok {
		t.Errorf("the contract does not allow this answer to %s %s: %d %s%s", req.Method, req.URL.Path, resp.StatusCode, body, told(errs))
	}
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
