//go:build !race

package front_test

// raced are all engines.
var raced = []string{overSQLite, overPostgres}
