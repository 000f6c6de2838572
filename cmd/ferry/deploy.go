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
	deployFlags
}

// deployFlags say whose contract is printed, and how.
type deployFlags struct {
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
	return c.print(ctx, out, "Brings deposits home to", evm.SweeperCode)
}

// walletIntakeCmd has the flags of walletSweeperCmd.
type walletIntakeCmd struct {
	deployFlags
}

// Help implements kong's longer help.
func (*walletIntakeCmd) Help() string {
	return `Prints the contract by which orders of the funding mode contract_call are paid on EVM chains. It passes every payment on
to your hot account in the same transaction, keeps nothing, and has no owner, so deploy it with any wallet: a transaction
without recipient, with these bytes as its data. Then write its address as intake = "0x…" into the [[chains]] table. Until
then orders on that chain are paid to deposit addresses alone. Solana needs none.

Examples:
  ferry wallet intake --config ferry.toml
  ferry wallet intake --config ferry.toml --json`
}

// Run prints what to deploy.
func (c *walletIntakeCmd) Run(ctx context.Context, out *output) error {
	return c.print(ctx, out, "Passes payments on to", evm.IntakeCode)
}

// print prints a contract that is made for the hot account.
func (c deployFlags) print(ctx context.Context, out *output, does string, code func(home common.Address) []byte) error {
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
		data := "0x" + hex.EncodeToString(code(common.HexToAddress(hot.Text())))
		if c.JSON {
			return json.NewEncoder(out.Out).Encode(map[string]string{"home": hot.Text(), "data": data})
		}
		_, err = fmt.Fprintf(out.Out, "%s %s, the hot account of every EVM chain of this seed.\nDeploy these bytes, once on each chain:\n\n%s\n",
			does, evm.Codec{}.Show(hot), data)
		return err
	}
	return errors.New("no EVM chain of the configuration has keys")
}
