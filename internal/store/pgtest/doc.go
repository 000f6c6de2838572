// Package pgtest runs a private PostgreSQL for tests and measurements: one server
// per process on a unix socket in a temporary folder, a fresh database per test.
//
// The server keeps what it is told to keep (fsync and synchronous_commit are on),
// and it ends with the process that started it, however that ends.
package pgtest
