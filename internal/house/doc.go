// Package house is the whole daemon in one process over simulated chains, for
// stories, crash sweeps and seeded worlds.
//
// It guarantees that what it tells of a story is the truth: the auditor reads the
// simulated chains themselves, never through a node that may lie, and recomputes
// the books from their postings. No product code may import it.
package house
