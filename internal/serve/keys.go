package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/money"
	"ferry/internal/secret"
	"ferry/internal/signer"
)

// Ask asks whoever started the program for a secret.
type Ask func(what string) (secret.Text, error)

// Wishes is what a signer looks up before it signs.
type Wishes interface {
	signer.Wishes
	signer.Halts
}

// KeyNets are the chains of a configuration that need keys: those of real nodes.
func KeyNets(c config.Config) map[chain.ID]signer.Net {
	nets := map[chain.ID]signer.Net{}
	for _, ch := range c.Chains {
		if ch.Kind == config.RPC {
			nets[ch.ID] = signer.Net{Family: ch.Family, Network: ch.Nodes.Network}
		}
	}
	return nets
}

// OpenSeed opens the seed of a configuration.
func OpenSeed(w config.Wallet, ask Ask) (signer.Seed, error) {
	var pass secret.Text
	var err error
	if w.PassphraseFile != "" {
		pass, err = signer.ReadSecret(w.PassphraseFile)
	} else {
		pass, err = ask("Passphrase of " + w.SeedFile)
	}
	if err != nil {
		return signer.Seed{}, err
	}
	return signer.ReadSeed(w.SeedFile, pass)
}

// smallFee is what a Bitcoin transaction may cost however little it pays, in satoshis.
const smallFee = 20_000

// NewSigner is the signer of a configuration, in this process.
func NewSigner(ctx context.Context, c config.Config, s signer.Seed, w Wishes) (*signer.Signer, error) {
	ring, err := signer.NewRing(s.Bytes(), KeyNets(c))
	if err != nil {
		return nil, err
	}
	p := signer.Policy{
		PerPayment: c.Caps.PerPayment, PerHour: c.Caps.PerHour, FeeShare: c.Wallet.FeeShare, SmallFee: money.FromUint64(smallFee),
		Sweepers: map[chain.ID]chain.Address{}, Now: time.Now,
	}
	own := func(id chain.ID) (chain.Address, error) { return ring.Address(ctx, id, chain.Key{Account: signer.Hot}) }
	if p.Contracts, err = callable(c, own); err != nil {
		return nil, err
	}
	for _, ch := range c.Chains {
		if ch.Nodes.Sweeper != "" {
			p.Sweepers[ch.ID] = chain.CanonicalAddress(chain.EVM, strings.ToLower(ch.Nodes.Sweeper))
		}
	}
	return signer.New(ring, p, w, w)
}

// OpenKeys gives the keys of a configuration: a signer in this process, or one in a
// process of its own, which must answer and have keys for every chain. The second
// value lets go of them.
func OpenKeys(ctx context.Context, c config.Config, w Wishes, ask Ask) (signer.Keys, func(), error) {
	if c.Wallet.Socket == "" {
		seed, err := OpenSeed(c.Wallet, ask)
		if err != nil {
			return nil, nil, err
		}
		s, err := NewSigner(ctx, c, seed, w)
		return s, func() {}, err
	}
	client := signer.NewClient(c.Wallet.Socket)
	hot, err := client.Health(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("wallet.signerSocket: %w; start ferry signer first", err)
	}
	var missing []error
	for id := range KeyNets(c) {
		if hot[id] == "" {
			missing = append(missing, fmt.Errorf("wallet.signerSocket: the signer has no keys for %s; start it with the same configuration", id))
		}
	}
	if len(missing) == 0 {
		missing = append(missing, sameLists(ctx, c, client, hot))
	}
	return client, client.Close, errors.Join(missing...)
}

// sameLists refuses a signer that lets other calls through than the service would make:
// it would stop orders halfway.
func sameLists(ctx context.Context, c config.Config, client *signer.Client, hot map[chain.ID]string) error {
	list, err := callable(c, func(id chain.ID) (chain.Address, error) { return chain.CanonicalAddress(chain.EVM, hot[id]), nil })
	if err != nil {
		return err
	}
	has, err := client.Lists(ctx)
	if err == nil && has != signer.Digest(list) {
		err = errors.New("the signer lets other contracts be called than the pools, bridges and aggregators of this configuration need; start it with the same configuration")
	}
	if err != nil {
		return fmt.Errorf("wallet.signerSocket: %w", err)
	}
	return nil
}
