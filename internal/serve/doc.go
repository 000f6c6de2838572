// Package serve is the service as an operator configures it: it makes chains, price
// sources and settings out of a configuration, opens the doors, and runs until it is
// told to stop.
//
// A chain of the kind sim lives in the process and begins anew with every start, so
// it goes with a database that is new too.
package serve
