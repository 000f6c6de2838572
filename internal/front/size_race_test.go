//go:build race

package front_test

// raced are the engines that tables are run over under the race detector. What they show
// beyond the store, whose own tests run on both, is of no engine; all of them run over
// both without it.
var raced = []string{overSQLite}
