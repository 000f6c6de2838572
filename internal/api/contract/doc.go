// Package contract writes the published descriptions: of the HTTP door, OpenAPI 3.1,
// from the same rows and shapes that the door serves, and of the live socket, AsyncAPI
// 3.0, from the same table of messages that the socket speaks by.
//
// It guarantees that a document has every operation it was given and nothing of
// any other: no path, no schema and no word of a hidden one; that request objects
// take no further members and answers may grow; and that equal rows give equal
// bytes. It must never be edited by hand: what it says is changed by changing the
// table or the wire types.
package contract
