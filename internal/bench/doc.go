// Command bench measures the service against what the machine could do at best,
// both in the same run.
//
// It guarantees that the thing and its floor take turns, that rounds in which the
// machine was taken away are repeated, and that a goal that is missed ends it with
// an error. It must never compare with a number of another run. It is called by
// `make bench` and leaves nothing behind.
package main
