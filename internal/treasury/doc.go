// Package treasury keeps the wallets: it gives every order a deposit address of its
// own, brings deposits home, and compares the books with the chains.
//
// It guarantees that no address is given to two orders, in whatever process and after
// whatever crash; that a deposit is brought home by one transfer at a time, which is
// wished in the transaction that marks it; and that the comparison is exact: every
// difference is explained by something that is on its way, or named.
//
// It must never sign, send or move anything itself, and never book what is not final:
// transfers are carried out by send, and booked in the transaction that ends them. The
// daemon's loop wakes it, and an operator who is in a hurry does.
package treasury
