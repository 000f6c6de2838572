// Package report is the read side: what an integrator sees of its own integration,
// and what anybody sees of the service: stats, points and public activity.
//
// What it reads was counted when it happened: every fact adds to a few tallies in
// the transaction that writes it, so that reading costs the same with a thousand
// orders and with ten million, and can not differ from the orders. Recount counts all
// of it again from the orders alone.
//
// It shows no session, no address of an end user and no network address, only how
// many there were; and to the public nothing that leads to an order, an owner or a
// transaction: no ids, addresses masked, amounts in ranges, completions late and in no
// order, pairs only where there are enough of them.
package report
