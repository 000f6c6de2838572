package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"ferry/internal/secret"
	"ferry/internal/signer"
)

// leastPassphrase is how long a passphrase must be that is made here. One that exists
// is taken as it is.
const leastPassphrase = 12

// errNoTerminal: a secret is never taken from a pipe, an argument or the environment,
// where others could read it.
var errNoTerminal = errors.New("there is no terminal to ask at; write the secret into a file that only you may read, and give its path")

// ask reads a secret at the terminal, without showing it.
func (o *output) ask(what string) (secret.Text, error) {
	in := int(os.Stdin.Fd()) //nolint:gosec // a descriptor is small
	if !term.IsTerminal(in) {
		return secret.Text{}, fmt.Errorf("%s: %w", what, errNoTerminal)
	}
	fmt.Fprintf(o.Err, "%s: ", what)
	b, err := term.ReadPassword(in)
	fmt.Fprintln(o.Err)
	if err != nil {
		return secret.Text{}, fmt.Errorf("%s: %w", what, err)
	}
	return secret.New(string(b)), nil
}

// newPassphrase reads a passphrase for a new seed: from a file, or twice at the terminal.
func (o *output) newPassphrase(file string) (pass secret.Text, err error) {
	if file != "" {
		pass, err = signer.ReadSecret(file)
	} else {
		pass, err = o.ask("New passphrase")
	}
	if err != nil {
		return pass, err
	}
	if len(pass.Reveal()) < leastPassphrase {
		return pass, fmt.Errorf("the passphrase is too short; take at least %d characters", leastPassphrase)
	}
	if file != "" {
		return pass, nil
	}
	again, err := o.ask("Once more")
	if err != nil {
		return pass, err
	}
	if again.Reveal() != pass.Reveal() {
		return pass, errors.New("the two passphrases differ; nothing was written")
	}
	return pass, nil
}
