package cctp

import (
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Name is the venue's name in steps.
const Name = "cctp"

// hot is the account that burns and mints, and to which is minted.
const hot chain.Account = "hot"

// Domain is a chain of the protocol.
type Domain struct {
	Chain                  chain.ID
	Number                 uint32 // the protocol's own, and not the chain's
	Token                  chain.Asset
	Messenger, Transmitter chain.Address
	// Own is our hot address there.
	Own chain.Address
	// Attested is how long it usually takes from a burn to its attestation.
	Attested time.Duration
}

// Config is how transfers are made.
type Config struct {
	Domains []Domain
	// Service is Ferry's own fee, taken from what is minted.
	Service money.Percent
	// MaxFee is the most that the protocol may keep of a transfer. Standard transfers are
	// free on most chains; a burn that offers less than a chain asks for reverts.
	MaxFee money.Percent
	// Min and Max are what a transfer may be; the contracts' limit of a burn holds beside.
	Min, Max money.Amount
	// Poll is how soon is looked again for what is awaited.
	Poll time.Duration
	// Fresh is how long the limit of a burn is believed.
	Fresh time.Duration
}

// What a transfer may cost at most, in percents: more is a typing error.
const maxShare = money.Whole / 20

// Check refuses settings that cannot be meant.
func (c Config) Check() error {
	switch {
	case len(c.Domains) < 2:
		return errors.New("a bridge needs two chains")
	case c.Service < 0 || c.Service > maxShare || c.MaxFee < 0 || c.MaxFee > maxShare:
		return fmt.Errorf("a fee must be from 0 to %s percent", maxShare)
	case c.Min.IsZero() || c.Max.Less(c.Min):
		return errors.New("the minimum must be above zero and the maximum at least that; zero never means unlimited")
	case c.Poll <= 0 || c.Fresh <= 0:
		return errors.New("how soon is looked again and how long a limit is believed must be above zero")
	}
	numbers, chains := map[uint32]bool{}, map[chain.ID]bool{}
	for _, d := range c.Domains {
		if err := d.check(); err != nil {
			return fmt.Errorf("domain %d on %s: %w", d.Number, d.Chain, err)
		}
		if numbers[d.Number] || chains[d.Chain] {
			return fmt.Errorf("domain %d on %s is there twice", d.Number, d.Chain)
		}
		numbers[d.Number], chains[d.Chain] = true, true
	}
	return nil
}

func (d Domain) check() error {
	for what, a := range map[string]chain.Address{"messenger": d.Messenger, "transmitter": d.Transmitter, "own address": d.Own} {
		if a.Family() != chain.EVM || len(a.Text()) != 42 {
			return fmt.Errorf("the %s is no address of an EVM chain", what)
		}
	}
	switch {
	case d.Chain == "" || d.Token.Chain != d.Chain || len(d.Token.Ref) != 42:
		return errors.New("the token must be one of its chain")
	case d.Messenger == d.Transmitter:
		return errors.New("messenger and transmitter are two contracts")
	case d.Attested <= 0:
		return errors.New("how long an attestation takes must be above zero")
	}
	return nil
}

// tokenAt is the token's contract.
func (d Domain) tokenAt() chain.Address { return chain.CanonicalAddress(chain.EVM, d.Token.Ref) }
