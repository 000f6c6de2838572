// Package contracttest holds answers of the door to the published contract, with a
// reader of contracts that is not ours.
//
// It guarantees that a document which an independent library cannot read, or an
// answer which the document does not allow, fails the test. It is for tests only
// and must never reach the daemon.
package contracttest
