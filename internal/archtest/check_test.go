package archtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath, Dir                                    string
	GoFiles, TestGoFiles, XTestGoFiles, IgnoredGoFiles []string
	Imports, TestImports, XTestImports                 []string
	Error                                              *struct{ Err string }
}

// room is the package's name on the plan.
func (p listed) room() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "ferry/"), "internal/")
}

func roomOf(importPath string) (string, bool) {
	rest, ok := strings.CutPrefix(importPath, "ferry/")
	return strings.TrimPrefix(rest, "internal/"), ok
}

func packages(t *testing.T) []listed {
	t.Helper()
	fields := "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,IgnoredGoFiles,Imports,TestImports,XTestImports,Error"
	cmd := exec.Command("go", "list", "-e", fields, "ferry/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages; the plan was not checked", len(all))
	}
	return all
}

// brokenPlan names every import of p that the plan does not have.
func brokenPlan(p listed) []string {
	room := p.room()
	allowed, ok := plan[room]
	if !ok {
		return []string{fmt.Sprintf("package %s is not on the plan: decide on which floor it stands and what it may import, then add %q to plan in internal/archtest/plan_test.go and a line to ARCHITECTURE.md", p.ImportPath, room)}
	}
	var bad []string
	check := func(imports []string, allowed, kind string) {
		for _, path := range imports {
			other, ours := roomOf(path)
			if ours && other != room && !named(allowed, other) {
				bad = append(bad, fmt.Sprintf("%s %s %s, which the plan does not allow: say in ports.go what %s needs and let the other fit it, or change the plan with a reason", room, kind, other, room))
			}
			for _, r := range outside {
				if (path == r.path || strings.HasPrefix(path, r.path+"/")) && !covers(r.rooms, room) && kind == "imports" {
					bad = append(bad, fmt.Sprintf("%s imports %s, which only %s may: %s", room, path, strings.Join(strings.Fields(r.rooms), ", "), r.instead))
				}
			}
		}
	}
	tests := allowed + " " + inTests[room] + " " + chance
	check(p.Imports, allowed, "imports")
	check(p.TestImports, tests, "imports in its tests")
	check(p.XTestImports, tests, "imports in its tests")
	return bad
}

// brokenFiles looks into the sources of p: forbidden calls, long files, no words.
func brokenFiles(p listed) []string {
	var bad []string
	documented := false
	for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			bad = append(bad, err.Error())
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments)
		if err != nil {
			bad = append(bad, err.Error())
			continue
		}
		documented = documented || f.Doc != nil
		if n := bytes.Count(src, []byte("\n")); n > maxLines && !ast.IsGenerated(f) {
			bad = append(bad, fmt.Sprintf("%s/%s has %d lines, more than %d: give each noun its own file", p.room(), name, n, maxLines))
		}
		bad = append(bad, brokenCalls(p.room(), name, f)...)
	}
	if len(p.GoFiles) > 0 && !documented {
		bad = append(bad, fmt.Sprintf("%s has no package comment: say in doc.go what it is for, what it guarantees and what it must never do", p.room()))
	}
	return bad
}

// brokenCalls names the calls in f that room may not make.
func brokenCalls(room, name string, f *ast.File) []string {
	var bad []string
	for _, c := range calls {
		if (c.allowed != "" && covers(c.allowed, room)) || (c.forbidden != "" && !covers(c.forbidden, room)) {
			continue
		}
		local := localName(f, c.pkg)
		if local == "" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && named(c.names, sel.Sel.Name) {
				bad = append(bad, fmt.Sprintf("%s/%s uses %s.%s: %s", room, name, c.pkg, sel.Sel.Name, c.instead))
			}
			return true
		})
	}
	return bad
}

// localName is what f calls the package at path; empty if it does not import it.
func localName(f *ast.File, path string) string {
	for _, imp := range f.Imports {
		if got, err := strconv.Unquote(imp.Path.Value); err != nil || got != path {
			continue
		}
		if imp.Name != nil {
			return imp.Name.Name
		}
		return path[strings.LastIndex(path, "/")+1:]
	}
	return ""
}
