// Package store keeps everything that must survive: orders, the books, the feed,
// work, deposits, transfers and their attempts, integrators and their keys, and
// what operators did, on SQLite or PostgreSQL.
//
// It guarantees that a change is written whole or not at all, that a fact is
// applied to an order once, that a slot belongs to one transfer for ever, that
// the feed has no gaps and is in commit order, that the balances it keeps are the
// sums of the postings it keeps, that a key keeps its kind, and that a change of the
// operators' log is found. It refuses to open a database that could
// lose what it said it wrote.
//
// One DB serves the ports of every room. All writes of a process go through one
// writer, which puts what is waiting into one transaction (see writer.go); reads
// go past it. Both engines run the same schema and the same statements.
package store
