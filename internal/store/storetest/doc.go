// Package storetest holds every engine of the store to the same words: one suite,
// run over SQLite in memory, SQLite in a file and PostgreSQL.
package storetest
