package main

import (
	"context"
	"errors"
)

type simCmd struct {
	Seed   uint64 `default:"1" help:"The seed; the same seed gives the same world."`
	Orders int    `default:"1000" help:"How many orders to simulate."`
	JSON   bool   `name:"json" help:"Print one object at the end, for machines."`
	DB     string `name:"db" placeholder:"URL" help:"Keep the state in this database; default is a private one in memory."`
}

// Run simulates.
func (*simCmd) Run(context.Context, *output) error {
	return errors.New("the simulated world is not part of this build yet")
}
