// Package nodes makes a chain of real nodes ready for the service: the family's adapter
// over its nodes, with what callers are told of it.
//
// It guarantees that a chain is not served whose nodes are on another one, or whose
// tokens count otherwise than their configuration says. It holds no key and knows no
// configuration file; serve and dev give it plain values.
package nodes
