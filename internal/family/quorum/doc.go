// Package quorum decides what to believe when several nodes are asked.
//
// It guarantees that nothing is believed unless enough nodes said the same, that
// the number which is enough never shrinks because nodes are away, and that a
// node's error is never taken for an answer: whoever wants "not found" to be
// believed must have nodes answer it. It asks nobody by itself and keeps nothing.
package quorum
