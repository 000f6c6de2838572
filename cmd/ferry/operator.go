package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"ferry/internal/api/operator"
	"ferry/internal/config"
)

type operatorCmd struct {
	Token  operatorTokenCmd  `cmd:"" help:"Make a token for an operator, which is shown once."`
	Audit  operatorAuditCmd  `cmd:"" help:"Show what operators did."`
	Verify operatorVerifyCmd `cmd:"" help:"Check that nothing in the log of operators was changed."`
}

type operatorTokenCmd struct {
	Name string `arg:"" help:"Whose token it is to be, in small letters."`
	JSON bool   `name:"json" help:"Print one object, for machines."`
}

// Help implements kong's longer help.
func (*operatorTokenCmd) Help() string {
	return `The token is printed once: keep it in a file that only its owner can read. The configuration of the
service gets the digest, which opens nothing.

Example:
  ferry operator token alice`
}

// Run makes a token.
func (c *operatorTokenCmd) Run(out *output) error {
	if !config.ValidOperator(c.Name) {
		return fmt.Errorf("%q is not a name; write small letters, digits, dots and dashes, such as alice", c.Name)
	}
	token, digest, err := operator.MintToken(rand.Reader)
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(digest[:])
	f := officeFlags{JSON: c.JSON}
	return f.print(out, map[string]string{"name": c.Name, "token": token.Reveal(), "tokenSha256": sum}, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n\nThis is the only time that the token is shown. For the configuration:\n\n", token.Reveal())
		fmt.Fprintf(w, "[[operators]]\nname = %q\ntokenSha256 = %q\n", c.Name, sum)
	})
}

type operatorAuditCmd struct {
	officeFlags
	After int64 `default:"0" placeholder:"N" help:"Show what comes after this entry."`
}

// Help implements kong's longer help.
func (*operatorAuditCmd) Help() string {
	return `A hundred entries are shown at a time, oldest first; go on with --after and the last number.

Examples:
  ferry operator audit --config ferry.toml
  ferry operator audit --config ferry.toml --after 100 --json` + where
}

// Run shows a part of the log.
func (c *operatorAuditCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		log, err := o.Audit(ctx, c.After)
		if err != nil {
			return err
		}
		return c.print(out, log, func(w io.Writer) {
			if len(log.Entries) == 0 {
				fmt.Fprintln(w, "there is nothing more")
				return
			}
			fmt.Fprintln(w, "NO\tAT\tBY\tWHAT\tTARGET\tCHANGE")
			for _, e := range log.Entries {
				fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", e.Seq, e.At, e.By, e.Action, e.Target, changed(e))
			}
		})
	})
}

// changed shows what an entry says, field by field; what it had before it was made
// is nothing.
func changed(e operator.Entry) string {
	var before, after map[string]string
	if json.Unmarshal(e.Before, &before) != nil || json.Unmarshal(e.After, &after) != nil {
		return string(e.Before) + " → " + string(e.After)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		parts = append(parts, fmt.Sprintf("%s: %q → %q", name, before[name], after[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, there := before[name]; !there && after[name] != "" {
			parts = append(parts, fmt.Sprintf("%s: %q", name, after[name]))
		}
	}
	return strings.Join(parts, ", ")
}

type operatorVerifyCmd struct{ officeFlags }

// Help implements kong's longer help.
func (*operatorVerifyCmd) Help() string {
	return `Every entry holds the sum of the one before. Write the last sum down elsewhere now and then: it tells
later whether the whole log was made anew.

Example:
  ferry operator verify --config ferry.toml` + where
}

var errLogChanged = errors.New("the log of operators was changed after it was written; compare it with the last backup")

// Run goes through the log.
func (c *operatorVerifyCmd) Run(ctx context.Context, out *output) error {
	return c.with(ctx, func(o *operator.Client) error {
		v, err := o.Verify(ctx)
		if err != nil {
			return err
		}
		err = c.print(out, v, func(w io.Writer) {
			if v.Sound {
				fmt.Fprintf(w, "ok: %d entries, the last with sum %s\n", v.Entries, v.Head)
			} else {
				fmt.Fprintln(w, v.Why)
			}
		})
		if err == nil && !v.Sound {
			err = errLogChanged
		}
		return err
	})
}
