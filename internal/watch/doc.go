// Package watch follows chains block by block and turns payments into facts for
// orders.
//
// It guarantees that the cursor moves only together with what was found, that a
// payment is told final only when it is buried as deep as its value asks, that a
// payment which vanishes is told so, and that a chain which takes back what was
// believed final is halted. Not knowing is never taken for not there: any trouble
// in reading leaves everything as it was. A chain that has not moved is looked at by
// its head and its mempool alone, for at most a second. It never decides what becomes
// of an order; it is woken by the daemon's loop.
package watch
