package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/signer"
)

type walletSweeperCmd struct {
	Config         string `required:"" placeholder:"FILE" help:"A configuration: its EVM chains, and its seed or signer."`
	Seed           string `placeholder:"FILE" help:"The seed file, if it is another than the configuration's."`
	PassphraseFile string `placeholder:"FILE" help:"A file with its passphrase. Without it you are asked."`
	JSON           bool   `name:"json" help:"Print one object, for machines."`
}

// Help implements kong's longer help.
func (*walletSweeperCmd) Help() string {
	return `Prints the contract that brings deposits home to the hot account of your EVM chains. It can send money nowhere else,
whoever deploys it, so deploy it with any wallet: a transaction without recipient, with these bytes as its data. Then
write its address as sweeper = "0x…" into the [[chains]] table. Until then deposits stay on their addresses.

Examples:
  ferry wallet sweeper --config ferry.toml
  ferry wallet sweeper --config ferry.toml --json`
}

// Run prints what to deploy.
func (c *walletSweeperCmd) Run(ctx context.Context, out *output) error {
	ask := walletAddressesCmd{Config: c.Config, Seed: c.Seed, PassphraseFile: c.PassphraseFile}
	keys, nets, done, err := ask.open(out)
	if err != nil {
		return err
	}
	defer done()
	for id, n := range nets {
		if n.Family != chain.EVM {
			continue
		}
		hot, err := keys.Address(ctx, id, chain.Key{Account: signer.Hot})
		if err != nil {
			return err
		}
		data := "0x" + hex.EncodeToString(evm.SweeperCode(common.HexToAddress(hot.Text())))
		if c.JSON {
			return json.NewEncoder(out.Out).Encode(map[string]string{"home": hot.Text(), "data": data})
		}
		_, err = fmt.Fprintf(out.Out, "Brings deposits home to %s, the hot account of every EVM chain of this seed.\nDeploy these bytes, once on each chain:\n\n%s\n",
			evm.Codec{}.Show(hot), data)
		return err
	}
	return errors.New("no EVM chain of the configuration has keys")
}
