// Package contract is what venues on EVM chains have in common when they speak with
// contracts: interfaces that are part of the program, the data of calls, and addresses.
//
// It asks no chain and knows no venue. It must never judge what a contract said.
package contract
