// Package dev is a whole service on one machine for whoever builds on Ferry or tries it:
// chains of the three families that mine by themselves, a treasury, and users who pay
// when they are told to.
//
// A local network is made of real nodes, is kept in its folder and goes on where it
// stopped. Its two EVM chains have Uniswap's own contracts, with pools and tokens that
// only these trade, and native bridges: Base is a rollup of Ethereum, and the dollars of
// both, which the pools trade too, go over CCTP. What a coin is worth a record, an oracle
// and a pool there say. Without npm it has neither pools nor a real Solana chain, and says
// so. It says that it is ready when chains and pools were read once.
//
// A simulated network is in memory and begins anew with every start, so its database does
// too. Nothing in either is worth anything, and nothing of it is ever part of a service
// that serves real chains.
package dev
