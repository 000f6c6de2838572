package store

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ferry/internal/store/pgtest"
)

// whole are the statements that read whole tables on purpose: audits and gauges,
// which are not on the way of an order, and tables with one row per chain.
var whole = map[string]bool{
	"sqlPostings": true, "sqlReservations": true, "sqlBalances": true, "sqlHalts": true, "sqlClosed": true, "sqlRead": true,
	"sqlCountOrders": true, "sqlCountWork": true, "sqlCountQueue": true, "sqlCountUntold": true, "sqlCountDeposits": true,
	"sqlCountTransfers": true, "sqlCountLive": true, "sqlCountBalances": true,
	"sqlClosing": true, // audits, and work is what waits to be done
	"sqlRunning": true, // audits, and reserved is only what open orders ask for
	"sqlQueue":   true, // in the order of its index, and no more than asked for
	// Counting everything again.
	"sqlRecountOrders": true, "sqlRecountTallies": true, "sqlRecountAccounts": true, "sqlStrayEntries": true, "sqlStrayActivity": true,
	// Not statements of their own.
	"sqlCommit": true, "sqlOrders": true, "sqlReservation": true, "sqlTablePresentFmt": true, "sqlMigrationsTable": true, "sqlMigrations": true, "sqlMigrationBegun": true, "sqlMigrationEnded": true,
}

// inOrder are the statements that must be read in the order of an index, so that a page
// costs what it shows and not what there is.
var inOrder = map[string]string{
	"sqlBoard": "points_board", "sqlPointsAbove": "points_board", "sqlActivity": "activity_published", "sqlActivityAfter": "activity_published",
}

// statements reads every SQL constant out of the source, so that none is forgotten.
func statements(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]string{}
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range names {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, o := range file.Scope.Objects {
			spec, is := o.Decl.(*ast.ValueSpec)
			if is && o.Kind == ast.Con && len(spec.Values) == 1 {
				if text, ok := eval(spec.Values[0]); ok {
					values[name] = text
				}
			}
		}
	}
	return values
}

// eval evaluates a string constant; the column lists are the only names in them.
func eval(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, ok := map[string]string{
			"depositColumns": depositColumns, "attemptColumns": attemptColumns, "sqlOrders": sqlOrders,
			"integratorColumns": integratorColumns, "keyColumns": keyColumns, "entryColumns": entryColumns,
			"differingColumns": differingColumns, "momentColumns": momentColumns, "activityColumns": activityColumns,
			"hookColumns": hookColumns, "deliveryColumns": deliveryColumns,
		}[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		a, ok := eval(e.X)
		b, ok2 := eval(e.Y)
		return a + b, ok && ok2
	}
	return "", false
}

var (
	scan = regexp.MustCompile(`SCAN ([A-Za-z]+)`)
	// small are a subquery with its own limit and the rows of VALUES, which are read
	// whole.
	small = map[string]bool{"t": true, "m": true, "CONSTANT": true}
	param = regexp.MustCompile(`\$(\d+)`)
)

func TestNoQueryReadsAWholeTable(t *testing.T) {
	db, err := Open(t.Context(), Config{URL: "sqlite::memory:"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	pg, err := Open(t.Context(), Config{URL: pgtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close()
	checked := 0
	texts := statements(t)
	for name, m := range map[string]*many{"Among": ordersAmong, "Moves": moves, "WakeMoves": wakeMoves, "UsedKeys": usedKeys, "Deposit": depositAddresses, "Held": reservationsAmong, "Moments": momentsAmong, "Depths": depthsAmong} {
		for i, text := range m.texts {
			texts[fmt.Sprintf("sqlOrders%s%d", name, i)] = text
		}
	}
	for name, m := range map[string]*many{"Payees": depositAddresses, "Guards": guards} {
		plan := explainPostgres(t, pg, name, m.bulk)
		if strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "addresses_seq") || !strings.Contains(plan, "addresses_pkey") {
			t.Errorf("PostgreSQL: %s:\n%s\n%s", name, m.bulk, plan)
		}
	}
	for name, text := range texts {
		if !strings.HasPrefix(name, "sql") || whole[name] || !strings.Contains(text, "WHERE") {
			continue
		}
		checked++
		plan := explain(t, db, "EXPLAIN QUERY PLAN "+text, 4, strings.Count(text, "$"))
		for _, m := range scan.FindAllStringSubmatch(plan, -1) {
			if !small[m[1]] {
				t.Errorf("SQLite: %s reads all of %s:\n%s\n%s", name, m[1], text, plan)
			}
		}
		if index := inOrder[name]; index != "" && (!strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE")) {
			t.Errorf("SQLite: %s is not read in the order of %s:\n%s\n%s", name, index, text, plan)
		}
		plan = explainPostgres(t, pg, name, text)
		if strings.Contains(plan, "Seq Scan") {
			t.Errorf("PostgreSQL: %s:\n%s\n%s", name, text, plan)
		}
		if index := inOrder[name]; index != "" && (!strings.Contains(plan, index) || strings.Contains(plan, "Sort")) {
			t.Errorf("PostgreSQL: %s is not read in the order of %s:\n%s\n%s", name, index, text, plan)
		}
	}
	if checked < 40 {
		t.Errorf("only %d statements were found", checked)
	}
}

func explain(t *testing.T, db *DB, sql string, columns, args int) (plan string) {
	t.Helper()
	values := make([]any, args)
	for i := range values {
		values[i] = int64(1)
	}
	err := db.engine.read(context.Background(), ask(func(r row) error {
		parts := make([]any, columns)
		for i := range parts {
			parts[i] = new(any)
		}
		err := r.Scan(parts...)
		plan += fmt.Sprintln(*parts[columns-1].(*any))
		return err
	}, sql, values...))
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return plan
}

// explainPostgres asks for the plan without sequential scans, which small tables
// would otherwise get: what still has one has no index.
func explainPostgres(t *testing.T, db *DB, name, sql string) (plan string) {
	t.Helper()
	s, err := db.engine.session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.release(false)
	highest := 0
	for _, m := range param.FindAllStringSubmatch(sql, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		highest = max(highest, n)
	}
	execute := "EXPLAIN (COSTS OFF) EXECUTE " + name
	if highest > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("NULL,", highest), ",") + ")"
	}
	err = s.send(t.Context(), []stmt{
		do("BEGIN"), do("SET LOCAL enable_seqscan = off"), do("SET LOCAL plan_cache_mode = force_generic_plan"),
	})
	if err == nil {
		err = s.send(t.Context(), []stmt{do("PREPARE " + name + " AS " + sql)})
	}
	if err == nil {
		err = s.send(t.Context(), []stmt{ask(func(r row) error {
			var line string
			err := r.Scan(&line)
			plan += line + "\n"
			return err
		}, execute)})
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return plan
}
