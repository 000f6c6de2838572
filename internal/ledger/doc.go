// Package ledger keeps the books: double entry in whole units, one book per
// asset, with pending reservations beside what is posted.
//
// It guarantees that every posting takes from one account what it gives to
// another, that a wallet never holds less than nothing, and that nobody is owed
// less than nothing. Corrections are new postings; nothing is edited.
package ledger
