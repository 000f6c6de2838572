// Package report is the read side: what an integrator sees of its own integration,
// and what anybody sees of the service.
//
// What it reads was counted when it happened: every fact adds to a few tallies in
// the transaction that writes it, so that reading costs the same with a thousand
// orders and with ten million, and can not differ from the orders. It shows no
// session, no address of an end user and no network address, only how many there
// were.
package report
