package config

import (
	"encoding/hex"
	"regexp"
	"slices"
)

// Operator is a person who may use the operators' API. Of the token only its
// SHA-256 is in the file, so that who reads the file can not use it.
type Operator struct {
	Name   string
	Digest [32]byte
}

// operatorName keeps the names of people apart from those that the program gives,
// which have a colon.
var operatorName = regexp.MustCompile(`^[a-z0-9][-._a-z0-9]{0,63}$`)

// ValidOperator reports whether a name can be an operator's.
func ValidOperator(name string) bool { return operatorName.MatchString(name) }

// readOperators reads who may use the operators' API; no list is nobody.
func readOperators(r *reader, raw map[string]any) []Operator {
	tables, _ := r.tables(table{values: raw}, "operators")
	operators := make([]Operator, 0, len(tables))
	for _, t := range tables {
		o := Operator{Name: r.must(t, "name", "alice")}
		if o.Name != "" && !ValidOperator(o.Name) {
			r.refuse(t.key("name"), "%q is not a name; write small letters, digits, dots and dashes, such as \"alice\"", clip(o.Name))
		}
		text := r.must(t, "tokenSha256", "64 hex letters that ferry operator token prints")
		digest, err := hex.DecodeString(text)
		if text != "" && (err != nil || len(digest) != len(o.Digest)) {
			r.refuse(t.key("tokenSha256"), "is not the SHA-256 of a token; write what ferry operator token prints, never the token itself")
		} else {
			copy(o.Digest[:], digest)
		}
		if slices.ContainsFunc(operators, func(p Operator) bool { return p.Name == o.Name && o.Name != "" }) {
			r.refuse(t.key("name"), "%q stands there twice; give each person one name and one token", o.Name)
		}
		if slices.ContainsFunc(operators, func(p Operator) bool { return p.Digest == o.Digest && p.Digest != [32]byte{} }) {
			r.refuse(t.key("tokenSha256"), "stands there twice; give each person a token of their own")
		}
		operators = append(operators, o)
	}
	if len(operators) == 0 {
		return nil
	}
	return operators
}
