// Package dev is a whole service on one machine for whoever builds on Ferry or
// tries it: simulated chains of the three families that mine by themselves, a
// treasury, and users who pay when they are told to.
//
// Its chains are in memory and begin anew with every start, so its database does
// too. Nothing here is worth anything, and nothing of it is ever part of a service
// that serves real chains.
package dev
