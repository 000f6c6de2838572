// Package rpc asks several nodes of one chain over JSON-RPC and HTTP.
//
// It guarantees that every node is asked on its own and that what one says or fails
// to say is never taken for another's answer; that a node which fails again and again
// rests for a while, each time longer, without the number that must agree becoming
// smaller; that a node of another chain is never believed; that an answer has a
// largest size and a longest time; and that an address of a node, which may hold a
// password, is in no error. It must never decide what to believe: that is quorum's.
package rpc
