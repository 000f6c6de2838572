// Package front is the assembly of the doors: out of chains, a store, prices and
// settings it makes the rooms that callers reach, and runs them.
//
// Here and nowhere else the rooms of the door meet: who is asked for a key, what a
// limit is counted by, how an address of a chain is read. It decides nothing itself.
package front
