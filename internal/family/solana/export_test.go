package solana

import (
	"encoding/json"

	sol "github.com/gagliardetto/solana-go"

	"ferry/internal/chain"
	"ferry/internal/watch"
)

// Gleaned is what is found in the text of a block, for tests of the decoding alone.
func Gleaned(text []byte, b chain.Block, to watch.Addresses, mint, program sol.PublicKey) ([]chain.Deposit, []Suspect, error) {
	var w wireBlock
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, nil, err
	}
	g := gleaner{id: "solana:test", block: b, to: to, rent: 890_880, mints: map[sol.PublicKey]listing{
		mint: {mint: mint, program: program, known: true},
	}}
	out, err := g.glean(w)
	return out.found, out.suspects, err
}

// ReadMint says what a mint's bytes say: its decimals and its extensions.
func ReadMint(program sol.PublicKey, data []byte) (decimals int, extensions string, ok bool) {
	n, err := readMint(program, data)
	return n.decimals, n.extensions, err == nil && n.program == program
}

// MintExtensions are all that are known by name.
func MintExtensions() map[uint16]string { return extensions }

// Signed is a memory of what was signed; it says whether something is new to it.
func Signed() func(tx chain.TxID) bool { return newRecent().add }
