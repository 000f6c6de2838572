// Package wire holds what travels through the HTTP door: the bodies of requests
// and answers, their strict reading, the codes of refusals and the cursors of lists.
//
// It guarantees that a body is taken only if every name in it is documented,
// spelled exactly and given once, that every problem of a body is reported at once
// with its JSON pointer, that numbers are read from their text and never through a
// float, and that a value that was sent is never repeated in a refusal. The decoder
// and the published contract read the same shapes, so they cannot differ. It must
// never decide anything beyond form: whether an address exists or a fee is allowed
// is said elsewhere.
package wire
