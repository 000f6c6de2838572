package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"ferry/internal/config"
)

type networksCmd struct {
	JSON bool `name:"json" help:"Print one object, for machines."`
}

// Help implements kong's longer help.
func (*networksCmd) Help() string {
	return `Shows what is known of public networks: confirmations by value, tokens and explorers. A [[chains]] table with
preset = "NAME" and its nodes has all of it; docs/mainnet.example.toml is a whole configuration.

Examples:
  ferry networks
  ferry networks --json`
}

// Run shows the networks.
func (c *networksCmd) Run(out *output) error {
	names, err := config.Presets()
	if err != nil {
		return err
	}
	known, err := config.Known(names)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(map[string]any{"networks": known})
	}
	for _, n := range known {
		var depths, tokens []string
		for _, t := range n.Tiers {
			depths = append(depths, t.String())
		}
		for _, t := range n.Tokens {
			tokens = append(tokens, t.Symbol)
		}
		if _, err := fmt.Fprintf(out.Out, "%-9s %s (%s)\n  waits for  %s\n  serves     %s\n  explorer   %s\n",
			n.Preset, n.Name, n.ID, strings.Join(depths, ", "), strings.Join(tokens, ", "), n.ExplorerTx); err != nil {
			return err
		}
	}
	return nil
}
