package dev

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestANetworkOfOtherNodesIsNotGoneOnWith(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, file string
		fresh      bool
		found      bool
		says       string
	}{
		{"nothing", "", false, false, ""},
		{"ours", `{"nodes":2}`, false, true, ""},
		{"ours, and a new one is wanted", `{"nodes":2}`, true, false, ""},
		{"ours, partly simulated", `{"nodes":2,"simulated":["x"]}`, false, false, ""},
		{"an older one", `{"seed":"00"}`, false, false, "--fresh"},
		{"an older one, and a new one is wanted", `{"seed":"00"}`, true, false, ""},
		{"an older one, partly simulated", `{"simulated":["x"]}`, false, false, ""},
		{"no network at all", `gold`, false, false, "--fresh"},
	} {
		l := &local{dir: t.TempDir(), opts: Local{Fresh: one.fresh}}
		if one.file != "" {
			if err := os.WriteFile(filepath.Join(l.dir, stateFile), []byte(one.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, err := l.kept()
		if found != one.found || (err != nil) != (one.says != "") || err != nil && !strings.Contains(err.Error(), one.says) {
			t.Errorf("%s: %v, %v", one.name, found, err)
		}
	}
}
