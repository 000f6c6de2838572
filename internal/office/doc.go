// Package office is what an operator does about integrators and their keys, and
// about what waits for a human: halted chains, questions, and deposits that are to come
// home now.
//
// It guarantees that nothing is changed which could not be served afterwards, that
// every change is written together with who made it, what was before and what is
// now, in a log whose rows hold each other, that a key is shown once and kept only
// as its digest, and that the kind of a key never changes: there is no method for
// it. Its refusals name the field and say what to do.
//
// It must never write a key, a token or a session into the log, and it does not
// decide who an operator is: its callers say a name that they believe. It is woken
// by an operator's request and runs nothing by itself.
package office
