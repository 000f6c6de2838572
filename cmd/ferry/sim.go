package main

import (
	"context"
	"encoding/json"
	"errors"

	"ferry/internal/world"
)

type simCmd struct {
	Seed     uint64 `default:"1" help:"The seed; the same seed gives the same history and the same trace hash."`
	Orders   int    `default:"1000" help:"How many orders to simulate."`
	World    uint64 `placeholder:"SEED" help:"Run only the world with this seed, as a failure's replay line says."`
	Calm     bool   `help:"Leave out all faults."`
	Parallel int    `default:"0" help:"How many worlds run at a time; 0 is as many as there are cores."`
	JSON     bool   `name:"json" help:"Print one object at the end, for machines."`
}

// Help implements kong's longer help.
func (*simCmd) Help() string {
	return `Users pay right, under, over, twice, late and in the wrong asset, while chains reorganise and halt,
nodes lie and lag, disks fill up, clocks step and workers are killed. Then all faults end, and every order
must reach an ending or be held. The books are compared with the chains to the last unit.

Examples:
  ferry sim --orders 1000
  ferry sim --seed 7 --orders 100000
  ferry sim --seed 7 --orders 5000 --json
  ferry sim --world 4331357562117541681 --orders 500`
}

var errUnsound = errors.New("the simulation found trouble; replay it with the line above")

// Run simulates.
func (c *simCmd) Run(ctx context.Context, out *output) error {
	r, err := world.Run(ctx, world.Config{
		Seed: c.Seed, Orders: c.Orders, World: c.World, Calm: c.Calm, Parallel: c.Parallel, Progress: out.Err,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(out.Out).Encode(r)
	} else {
		err = r.Print(out.Out)
	}
	if err == nil && !r.Sound() {
		err = errUnsound
	}
	return err
}
