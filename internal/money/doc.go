// Package money holds the words for value: amounts in smallest units, percents
// and dollars.
//
// It guarantees that no value passes through a float, that arithmetic which
// would overflow or go below zero is an error, and that every division says
// who keeps the remainder. It reads no clock and does no I/O.
package money
