package api

import (
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"ferry/internal/api/contract"
	"ferry/internal/api/wire"
)

// Prefixes of paths with rules of their own.
const (
	versioned  = "/v2/"
	integrator = "/v2/integrator/"
)

var (
	camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	pathForm  = regexp.MustCompile(`^(/([a-z0-9][a-z0-9._-]*|\{[a-z][a-zA-Z0-9]*\}))+$`)
	methods   = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
)

// check refuses a table that could not be served as it says, and fills defaults in.
func check(rows []Operation) error {
	ids, places := map[string]bool{}, map[string]bool{}
	for i := range rows {
		o := &rows[i]
		if o.Status == 0 {
			o.Status = http.StatusOK
		}
		if err := checkRow(o); err != nil {
			return fmt.Errorf("operation %q: %w", o.ID, err)
		}
		place := o.Method + " " + o.Path
		if ids[o.ID] || places[place] {
			return fmt.Errorf("operation %q (%s) is in the table twice", o.ID, place)
		}
		ids[o.ID], places[place] = true, true
	}
	return nil
}

func checkRow(o *Operation) error {
	known := false
	for _, m := range methods {
		known = known || m == o.Method
	}
	inside := strings.HasPrefix(o.Path, versioned)
	switch {
	case !camelCase.MatchString(o.ID):
		return fmt.Errorf("its id is not camelCase")
	case !known:
		return fmt.Errorf("its method %q is none of %v", o.Method, methods)
	case !pathForm.MatchString(o.Path):
		return fmt.Errorf("its path %q is not of the form /v2/names/{name}", o.Path)
	case o.Do == nil:
		return fmt.Errorf("it does nothing")
	case o.Status == http.StatusSwitchingProtocols && (o.Method != http.MethodGet || o.Out != nil || o.Cache > 0):
		return fmt.Errorf("it goes on in another protocol and is no GET without an answer")
	case o.In != nil && !contract.Takes(o.Method):
		return fmt.Errorf("a %s has no body", o.Method)
	case inside && o.Summary == "":
		return fmt.Errorf("it has no summary")
	case inside && !slices.ContainsFunc(tags, func(t contract.Tag) bool { return t.Name == o.Tag }):
		return fmt.Errorf("its tag %q is none of the contract's", o.Tag)
	case o.Hidden != strings.HasPrefix(o.Path, integrator):
		return fmt.Errorf("it must be hidden if and only if its path is below %s", integrator)
	case o.Hidden && o.Key != ServerKey:
		return fmt.Errorf("it is hidden and does not want a server key")
	case o.Cache > 0 && (o.Method != http.MethodGet || o.Proof != NoProof || o.Key == ServerKey):
		return fmt.Errorf("its answer is for one caller only and must not be cached")
	case o.Key != NoKey && o.Spends == 0:
		return fmt.Errorf("it takes a key and spends nothing")
	case o.Spends != 0 && o.Spends&Requests == 0:
		return fmt.Errorf("it spends something and is no request")
	case len(contract.PathParams(o.Path)) > maxPathValues:
		return fmt.Errorf("its path has more than %d values", maxPathValues)
	}
	for _, zero := range []any{o.In, o.Out} {
		if zero == nil {
			continue
		}
		if _, err := wire.ShapeOf(reflect.TypeOf(zero)); err != nil {
			return err
		}
	}
	for _, code := range o.Codes {
		if _, ok := wire.CodeOf(code); !ok {
			return fmt.Errorf("its code %q is not in the catalogue", code)
		}
	}
	for _, f := range o.Forms {
		media, params, err := mime.ParseMediaType(f.Media)
		if err != nil || media != f.Media || len(params) > 0 || media == jsonMedia || o.Produces != "" || o.Out == nil {
			return fmt.Errorf("its form %q is not a media type beside JSON", f.Media)
		}
	}
	return checkParams(o)
}

func checkParams(o *Operation) error {
	seen := map[string]bool{}
	for _, p := range o.Query {
		if !camelCase.MatchString(p.Name) || seen[p.Name] || p.Name == verifyParam || folded(p.Name) == "sessionid" {
			return fmt.Errorf("its parameter %q is not camelCase, given twice or the door's own", p.Name)
		}
		if p.Kind != TextParam && p.Kind != WholeParam && p.Kind != FlagParam {
			return fmt.Errorf("its parameter %q has no kind", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}
