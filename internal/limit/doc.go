// Package limit says which limits a request uses, counts them, and says how long to
// wait when one is used up.
//
// It guarantees that in no 60 seconds more than the limit is taken of anything, that
// of several limits all are taken or none, that whoever waits as long as he was told
// gets in when nobody else spends and that a second less would not have been enough,
// and that nobody is told to wait longer than a minute. A limit of zero turns off
// that one limit and no other.
//
// Time is what the caller's monotonic clock says, so that a stepped wall clock gives
// neither a burst nor a lock-out: doors pass time.Now() as it is. UTC, In, Local and
// Round strip the reading; then a step back still costs nobody more than a minute and
// a second, but a step forward cannot be told from time that went by.
//
// Memory is bounded. What nobody used for a minute is forgotten. Companies and their
// keys are never forgotten earlier; they are as many as the operator made. Addresses
// and orders are kept up to a number: when a shard is full, the one that was idle
// longest begins afresh. That happens to an address only after as many others as the
// shard holds were used since within the same minute, and gives it at most one more
// allowance each time; somebody with so many addresses has as many allowances anyway,
// and the limits of companies hold all the same.
//
// Memory counts for one process. Where several serve one deployment, Shared spends of
// the limits of companies only what it got from a pool that they share, in blocks, so
// that the same holds for all of them together: never more than the limit in any 60
// seconds, whatever the network does and whoever dies. A process that is alone refuses
// nothing that a memory would not. Addresses are counted by each process.
//
// It must never ask a store for a request, only for a block of them; wait for anything
// but that and its own short locks; or write down an address. Open orders are not
// counted here but where they are created, in the same transaction; this room only says
// which ceilings hold. Nobody wakes a memory: it tidies up a little whenever it is used.
// Shared must run.
package limit
