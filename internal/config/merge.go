package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
)

const (
	envPrefix = "FERRY_"
	// testPrefix is for variables that only tests read.
	testPrefix = "FERRY_TEST_"
	// delim parts the steps of a key inside koanf; it cannot stand in a file, so
	// no quoted key can pass for a path.
	delim = "\x00"
	// maxText bounds the file: more is not a configuration.
	maxText = 1 << 20
)

// commandVars are for commands that ask a running service, and no settings of it.
var commandVars = []string{"FERRY_OPERATOR_URL", "FERRY_OPERATOR_TOKEN", "FERRY_OPERATOR_TOKEN_FILE"}

// merge reads the file, and lays the environment over it.
func merge(text []byte, environ []string) (map[string]any, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: the file is larger than 1 MiB; give a TOML file", ErrRefused)
	}
	k := koanf.New(delim)
	if err := k.Load(rawbytes.Provider(text), toml.Parser()); err != nil {
		return nil, fmt.Errorf("%w: not TOML: %w", ErrRefused, err)
	}
	r := &reader{}
	byEnv := envKeys()
	over := env.Provider(delim, env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			key, ok := byEnv[name]
			if !ok && !strings.HasPrefix(name, testPrefix) && !slices.Contains(commandVars, name) {
				r.refuse(clip(name), "is not a variable; did you mean %s?", nearest(name, slices.Sorted(maps.Keys(byEnv))))
			}
			return key, value
		},
	})
	if err := k.Load(over, nil); err != nil {
		return nil, fmt.Errorf("%w: environment: %w", ErrRefused, err)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return k.Raw(), nil
}

// envKeys is the variable of every key outside of lists: caps.perHourUsd is
// FERRY_CAPS_PER_HOUR_USD.
func envKeys() map[string]string {
	keys := map[string]string{}
	for section, inside := range known {
		if section == "chains" || section == "operators" {
			continue
		}
		for name := range inside {
			keys[envPrefix+upperSnake(section)+"_"+upperSnake(name)] = section + delim + name
		}
	}
	return keys
}

func upperSnake(camel string) string {
	var b strings.Builder
	for _, c := range camel {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(c))
	}
	return b.String()
}

// nearest is the name that takes the fewest changes to become.
func nearest(name string, names []string) string {
	best, least := "", -1
	for _, n := range names {
		if d := changes(clip(strings.ToLower(name)), strings.ToLower(n)); least < 0 || d < least {
			best, least = n, d
		}
	}
	return best
}

// changes is how many letters must be put in, taken out or replaced.
func changes(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
