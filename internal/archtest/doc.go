// Package archtest is the plan of this house, as a test: which room may import
// which, what only some rooms may touch, and how long a file may be.
//
// A package that is not on the plan fails the test, so a new room is a decision
// and never an accident. It holds nothing but tests.
package archtest
