package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"ferry/internal/report"
	"ferry/internal/store"
)

type recountCmd struct {
	DB   string `name:"db" required:"" placeholder:"URL" help:"The database: sqlite:PATH or postgres://…"`
	Fix  bool   `help:"Put right what differs, in one transaction; what others would write waits for it."`
	JSON bool   `name:"json" help:"Print one object, for machines."`
}

// Help implements kong's longer help.
func (*recountCmd) Help() string {
	return `What integrators and the public see is counted with every change of an order. This counts all of it
again from the orders, and lists every number that is kept otherwise: sums of integrators, the service's
stats, points and public activity. It exits with 1 if there is any.

Reading holds nobody up on PostgreSQL; a SQLite database belongs to the running service, so stop that
first. With --fix new orders wait until it is done: some twenty seconds for every hundred thousand orders.
The ledger of points is only ever added to: entries that differ are listed and left to you. After an
upgrade from a version without stats run it once with --fix.

Examples:
  ferry recount --db postgres://localhost/ferry
  ferry recount --db sqlite:ferry.db --json
  ferry recount --db sqlite:ferry.db --fix`
}

// recountView is what came of it as machines read it.
type recountView struct {
	Orders int64       `json:"orders"`
	Fixed  bool        `json:"fixed"`
	Drift  []driftView `json:"drift"`
}

type driftView struct {
	What    string `json:"what"`
	Subject string `json:"subject"`
	Name    string `json:"name,omitzero"`
	Bucket  int64  `json:"bucket,omitzero"`
	Kept    int64  `json:"kept"`
	Counted int64  `json:"counted"`
	Why     string `json:"why,omitzero"`
}

// Run counts.
func (c *recountCmd) Run(ctx context.Context, out *output) (err error) {
	db, err := store.Open(ctx, store.Config{URL: c.DB})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	count := db.Recount
	if c.Fix {
		count = db.Mend
	}
	found, err := count(ctx)
	if err != nil {
		return err
	}
	if err := c.print(out, found); err != nil {
		return err
	}
	left := len(found.Drift)
	if c.Fix && left > 0 { // what it could not put right is still there
		again, err := db.Recount(ctx)
		if err != nil {
			return err
		}
		left = len(again.Drift)
	}
	if left > 0 {
		return fmt.Errorf("%d numbers are not what the orders say", left)
	}
	return nil
}

func (c *recountCmd) print(out *output, found report.Found) error {
	if c.JSON {
		v := recountView{Orders: found.Orders, Fixed: c.Fix, Drift: []driftView{}}
		for _, d := range found.Drift {
			v.Drift = append(v.Drift, driftView(d))
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out.Out, "%s\n", text)
		return err
	}
	for _, d := range found.Drift {
		if _, err := fmt.Fprintln(out.Out, d); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out.Out, "%d orders were counted again, %d numbers differed\n", found.Orders, len(found.Drift))
	return err
}
