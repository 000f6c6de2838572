package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/family/evm"
	"ferry/internal/secret"
	"ferry/internal/serve"
	"ferry/internal/signer"
)

type walletCmd struct {
	Init      walletInitCmd      `cmd:"" help:"Make a new seed, and show its words once."`
	Restore   walletRestoreCmd   `cmd:"" help:"Make a seed file again from its words."`
	Addresses walletAddressesCmd `cmd:"" help:"Show the addresses that a seed has."`
	Sweep     walletSweepCmd     `cmd:"" help:"Bring deposits home to the hot wallet now, instead of when it is worth it."`
	Sweeper   walletSweeperCmd   `cmd:"" help:"Print the contract that brings deposits home on EVM chains, to be deployed."`
	Intake    walletIntakeCmd    `cmd:"" help:"Print the contract that takes payments for orders on EVM chains, to be deployed."`
}

// newSeedFlags say where a seed file is made.
type newSeedFlags struct {
	Seed           string `required:"" placeholder:"FILE" help:"The seed file to make. One that is there is never written over."`
	PassphraseFile string `placeholder:"FILE" help:"A file with the passphrase, which only you may read (mode 0600). Without it you are asked."`
	Memory         uint32 `default:"256" placeholder:"MIB" help:"How much memory one try of a passphrase takes, at least 16."`
	Passes         uint32 `default:"3" placeholder:"N" help:"How often it is gone through."`
	JSON           bool   `name:"json" help:"Print one object, for machines."`
}

func (f newSeedFlags) hardness() (signer.Hardness, error) {
	const least, most = 16, 2048
	if f.Memory < least || f.Memory > most || f.Passes < 1 || f.Passes > 16 {
		return signer.Hardness{}, fmt.Errorf("--memory is %d to %d, and --passes 1 to 16", least, most)
	}
	return signer.Hardness{Passes: f.Passes, MemoryKiB: f.Memory << 10, Threads: 1}, nil
}

// write asks for a passphrase and writes a seed.
func (f newSeedFlags) write(out *output, make func() (signer.Seed, error)) (signer.Seed, error) {
	h, err := f.hardness()
	if err != nil {
		return signer.Seed{}, err
	}
	if _, err := os.Lstat(f.Seed); err == nil {
		return signer.Seed{}, fmt.Errorf("%s is there already; a seed is never written over", f.Seed)
	}
	s, err := make()
	if err != nil {
		return s, err
	}
	pass, err := out.newPassphrase(f.PassphraseFile)
	if err != nil {
		return s, err
	}
	return s, signer.WriteSeed(f.Seed, s, pass, h)
}

type walletInitCmd struct{ newSeedFlags }

// Help implements kong's longer help.
func (*walletInitCmd) Help() string {
	return `Makes a seed of 256 random bits, from which every key and address comes, and writes it into a file that
its passphrase opens. Its 24 words are shown once: write them on paper and keep them where neither fire nor
strangers find them. Whoever has the words has the money, and without them and the file it is lost.

Examples:
  ferry wallet init --seed ferry.seed
  ferry wallet init --seed ferry.seed --passphrase-file ferry.passphrase --json`
}

// Run makes a seed.
func (c *walletInitCmd) Run(out *output) error {
	s, err := c.write(out, signer.NewSeed)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(map[string]string{"seedFile": c.Seed, "mnemonic": s.Mnemonic().Reveal()})
	}
	fmt.Fprintf(out.Out, "The seed is in %s. Write down its words now, in their order; they are not shown again.\n\n", c.Seed)
	words := strings.Fields(s.Mnemonic().Reveal())
	for i, w := range words {
		fmt.Fprintf(out.Out, "%4d  %-10s", i+1, w)
		if i%4 == 3 || i == len(words)-1 {
			fmt.Fprintln(out.Out)
		}
	}
	_, err = fmt.Fprintf(out.Out, "\nTry them: ferry wallet restore --seed OTHER, and compare ferry wallet addresses of both files.\n")
	return err
}

type walletRestoreCmd struct {
	newSeedFlags
	MnemonicFile string `placeholder:"FILE" help:"A file with the words, which only you may read (mode 0600). Without it you are asked."`
}

// Help implements kong's longer help.
func (*walletRestoreCmd) Help() string {
	return `Makes a seed file from the 12 to 24 words of a mnemonic (BIP-39, English). The same words give the same keys
and addresses, whatever the new passphrase.

Examples:
  ferry wallet restore --seed ferry.seed
  ferry wallet restore --seed ferry.seed --mnemonic-file words.txt --passphrase-file ferry.passphrase`
}

// Run restores a seed.
func (c *walletRestoreCmd) Run(out *output) error {
	_, err := c.write(out, func() (signer.Seed, error) {
		var words secret.Text
		var err error
		if c.MnemonicFile != "" {
			words, err = signer.ReadSecret(c.MnemonicFile)
		} else {
			words, err = out.ask("Words of the seed")
		}
		if err != nil {
			return signer.Seed{}, err
		}
		return signer.ParseMnemonic(words)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(map[string]string{"seedFile": c.Seed})
	}
	_, err = fmt.Fprintf(out.Out, "The seed is in %s again. Compare ferry wallet addresses with what you know.\n", c.Seed)
	return err
}

type walletAddressesCmd struct {
	Config         string   `placeholder:"FILE" help:"A configuration: its chains, and its seed or signer."`
	Seed           string   `placeholder:"FILE" help:"The seed file, if it is another than the configuration's."`
	PassphraseFile string   `placeholder:"FILE" help:"A file with its passphrase. Without it you are asked."`
	Families       []string `placeholder:"FAMILY,…" enum:"evm,bitcoin,solana" help:"Families instead of a configuration: evm, bitcoin, solana."`
	Network        string   `default:"mainnet" enum:"mainnet,testnet,signet,regtest" placeholder:"NAME" help:"Which of Bitcoin's networks, with --families."`
	Count          uint32   `default:"3" placeholder:"N" help:"How many deposit addresses of each chain."`
	From           uint32   `placeholder:"N" help:"From which deposit address on."`
	JSON           bool     `name:"json" help:"Print one object, for machines."`
}

// Help implements kong's longer help.
func (*walletAddressesCmd) Help() string {
	return `Shows for each chain the hot account, which pays, and the first deposit addresses, with the paths at which any
wallet finds their keys. With a configuration that names the socket of a signer, the signer is asked.

Examples:
  ferry wallet addresses --config ferry.toml
  ferry wallet addresses --seed ferry.seed --families evm,bitcoin,solana
  ferry wallet addresses --seed ferry.seed --families bitcoin --network regtest --count 20 --json`
}

// addressView is an address as machines read it.
type addressView struct {
	Chain   string  `json:"chain"`
	Account string  `json:"account"`
	Index   *uint32 `json:"index,omitempty"`
	Path    string  `json:"path"`
	Address string  `json:"address"`
}

// addressed gives the addresses of keys; a ring or a signer that is asked.
type addressed interface {
	Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error)
}

// Run shows addresses.
func (c *walletAddressesCmd) Run(ctx context.Context, out *output) error {
	const most = 10_000
	if c.Count > most {
		return fmt.Errorf("--count is at most %d", most)
	}
	keys, nets, done, err := c.open(out)
	if err != nil {
		return err
	}
	defer done()
	ids := make([]chain.ID, 0, len(nets))
	for id := range nets {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b chain.ID) int { return cmp.Compare(a, b) })
	views := []addressView{}
	for _, id := range ids {
		all := []chain.Key{{Account: signer.Hot}}
		for i := range c.Count {
			all = append(all, chain.Key{Account: chain.DepositKeys, Index: c.From + i})
		}
		for _, k := range all {
			a, err := keys.Address(ctx, id, k)
			if err != nil {
				return err
			}
			views = append(views, view(id, nets[id], k, a))
		}
	}
	if c.JSON {
		return json.NewEncoder(out.Out).Encode(map[string]any{"addresses": views})
	}
	w := tabwriter.NewWriter(out.Out, 0, 0, 2, ' ', 0)
	writeViews(w, views)
	return w.Flush()
}

func writeViews(w io.Writer, views []addressView) {
	fmt.Fprintln(w, "CHAIN\tACCOUNT\tPATH\tADDRESS")
	for _, v := range views {
		account := v.Account
		if v.Index != nil {
			account = fmt.Sprintf("%s %d", v.Account, *v.Index)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Chain, account, v.Path, v.Address)
	}
}

func view(id chain.ID, n signer.Net, k chain.Key, a chain.Address) addressView {
	v := addressView{Chain: string(id), Account: string(k.Account), Path: signer.Path(id, n, k), Address: a.Text()}
	if k.Account == chain.DepositKeys {
		v.Index = &k.Index
	}
	if n.Family == chain.EVM {
		v.Address = evm.Codec{}.Show(a)
	}
	return v
}

// open finds whom to ask, and about which chains.
func (c *walletAddressesCmd) open(out *output) (addressed, map[chain.ID]signer.Net, func(), error) {
	w, nets, err := c.where()
	if err != nil {
		return nil, nil, nil, err
	}
	if w.Socket != "" {
		client := signer.NewClient(w.Socket)
		return client, nets, client.Close, nil
	}
	s, err := serve.OpenSeed(w, out.ask)
	if err != nil {
		return nil, nil, nil, err
	}
	ring, err := signer.NewRing(s.Bytes(), nets)
	return ring, nets, func() {}, err
}

func (c *walletAddressesCmd) where() (w config.Wallet, nets map[chain.ID]signer.Net, err error) {
	nets = map[chain.ID]signer.Net{}
	switch {
	case c.Config != "" && len(c.Families) > 0:
		return w, nets, errors.New("give --config or --families, and not both")
	case c.Config != "":
		cfg, err := config.Load(c.Config, os.Environ())
		if err != nil {
			return w, nets, err
		}
		w, nets = cfg.Wallet, serve.KeyNets(cfg)
	case len(c.Families) == 0:
		return w, nets, errors.New("say of which chains: give --config FILE, or --families evm,bitcoin,solana")
	}
	for _, f := range c.Families {
		switch chain.Family(f) {
		case chain.EVM:
			nets["eip155:1"] = signer.Net{Family: chain.EVM}
		case chain.Bitcoin:
			nets[chain.ID("bitcoin:"+c.Network)] = signer.Net{Family: chain.Bitcoin, Network: c.Network}
		case chain.Solana:
			nets["solana:mainnet"] = signer.Net{Family: chain.Solana}
		}
	}
	if c.Seed != "" {
		w = config.Wallet{SeedFile: c.Seed}
	}
	if c.PassphraseFile != "" {
		w.PassphraseFile = c.PassphraseFile
	}
	switch {
	case len(nets) == 0:
		return w, nets, errors.New("no chain of the configuration has keys: they are all simulated; give --families instead")
	case w.SeedFile == "" && w.Socket == "":
		return w, nets, errors.New("say where the seed is: give --seed FILE")
	}
	return w, nets, nil
}
