// Package ammtest runs the real Uniswap contracts in an EVM of this process, whose storage
// is written anew for each question: what they answer is what amm must answer. It is for
// tests and measurements, and must never reach the service.
package ammtest
