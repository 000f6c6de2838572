package signer

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/gagliardetto/solana-go"
)

// What a transaction costs on Solana, in lamports.
const (
	signatureFee = 5000
	// A new token account must hold this much for ever; the newer token program
	// gives each account five bytes more.
	tokenRent, token2022Rent = 2_039_280, 2_074_080
)

// Instructions by their first bytes, and how long they are.
const (
	systemTransfer       = 2
	tokenTransferChecked = 12
	tokenCloseAccount    = 9
	ataCreateIdempotent  = 1
	budgetLimit          = 2
	budgetPrice          = 3
)

// The parts of what a transaction does. A move of SOL has no mint and no program.
type (
	solMove struct {
		from, to, authority solana.PublicKey
		mint, program       solana.PublicKey
		amount              uint64
	}
	solMake struct{ payer, account, owner, mint, program solana.PublicKey }
	solShut struct{ account, to, owner, program solana.PublicKey }
	// solDeed is everything that a transaction does.
	solDeed struct {
		moves        []solMove
		makes        []solMake
		shuts        []solShut
		limit, price *uint64
	}
)

// readDeed reads every instruction of a message. One that is not known, and an account
// that none of them names, are refused: nothing is signed that was not read.
func readDeed(m *solana.Message) (d solDeed, err error) {
	if m.GetVersion() != solana.MessageVersionLegacy && m.NumLookups() != 0 {
		return d, refuse(Method, "it names accounts by a table")
	}
	used := make([]bool, len(m.AccountKeys))
	for i := range int(m.Header.NumRequiredSignatures) {
		used[i] = true
	}
	for i, ci := range m.Instructions {
		if int(ci.ProgramIDIndex) >= len(m.AccountKeys) {
			return d, refuse(Unreadable, "instruction %d has no program", i)
		}
		used[ci.ProgramIDIndex] = true
		accounts := make([]solana.PublicKey, len(ci.Accounts))
		for j, a := range ci.Accounts {
			if int(a) >= len(m.AccountKeys) {
				return d, refuse(Unreadable, "instruction %d names an account that is not there", i)
			}
			accounts[j], used[a] = m.AccountKeys[a], true
		}
		if !d.take(m.AccountKeys[ci.ProgramIDIndex], accounts, ci.Data) {
			return d, refuse(Method, "instruction %d of the program %s is not allowed", i, m.AccountKeys[ci.ProgramIDIndex])
		}
	}
	for i, u := range used {
		if !u {
			return d, refuse(Method, "account %d is named for nothing", i)
		}
	}
	return d, nil
}

// take adds an instruction, if it is one of those that are allowed.
func (d *solDeed) take(program solana.PublicKey, accounts []solana.PublicKey, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	switch program {
	case solana.ComputeBudget:
		return d.takeBudget(accounts, data)
	case solana.SystemProgramID:
		if len(data) != 12 || binary.LittleEndian.Uint32(data) != systemTransfer || len(accounts) != 2 {
			return false
		}
		d.moves = append(d.moves, solMove{from: accounts[0], authority: accounts[0], to: accounts[1], amount: binary.LittleEndian.Uint64(data[4:])})
		return true
	case solana.SPLAssociatedTokenAccountProgramID:
		if len(data) != 1 || data[0] != ataCreateIdempotent || len(accounts) != 6 || accounts[4] != solana.SystemProgramID {
			return false
		}
		d.makes = append(d.makes, solMake{payer: accounts[0], account: accounts[1], owner: accounts[2], mint: accounts[3], program: accounts[5]})
		return true
	case solana.TokenProgramID, solana.Token2022ProgramID:
		return d.takeToken(program, accounts, data)
	}
	return false
}

func (d *solDeed) takeBudget(accounts []solana.PublicKey, data []byte) bool {
	switch {
	case len(accounts) != 0:
		return false
	case data[0] == budgetLimit && len(data) == 5 && d.limit == nil:
		n := uint64(binary.LittleEndian.Uint32(data[1:]))
		d.limit = &n
		return true
	case data[0] == budgetPrice && len(data) == 9 && d.price == nil:
		n := binary.LittleEndian.Uint64(data[1:])
		d.price = &n
		return true
	}
	return false
}

func (d *solDeed) takeToken(program solana.PublicKey, accounts []solana.PublicKey, data []byte) bool {
	switch {
	case data[0] == tokenTransferChecked && len(data) == 10 && len(accounts) == 4:
		d.moves = append(d.moves, solMove{
			from: accounts[0], mint: accounts[1], to: accounts[2], authority: accounts[3],
			program: program, amount: binary.LittleEndian.Uint64(data[1:]),
		})
		return true
	case data[0] == tokenCloseAccount && len(data) == 1 && len(accounts) == 3:
		d.shuts = append(d.shuts, solShut{account: accounts[0], to: accounts[1], owner: accounts[2], program: program})
		return true
	}
	return false
}

// fee is the most that it can cost, with the rent of accounts that it may open.
func (d *solDeed) fee(signatures int) (uint64, error) {
	fee := uint64(signatures) * signatureFee //nolint:gosec // at most 255
	if d.price != nil {
		if d.limit == nil {
			return 0, refuse(Fee, "it offers a price for work without a limit")
		}
		// In millionths of a lamport for each unit of work, rounded up.
		hi, lo := bits.Mul64(*d.price, *d.limit)
		if hi >= 1_000_000 {
			return 0, refuse(Fee, "its fee is no amount")
		}
		q, rest := bits.Div64(hi, lo, 1_000_000)
		if rest > 0 {
			q++
		}
		if fee += q; fee < q {
			return 0, refuse(Fee, "its fee is no amount")
		}
	}
	for _, m := range d.makes {
		rent := uint64(tokenRent)
		if m.program == solana.Token2022ProgramID {
			rent = token2022Rent
		}
		if fee += rent; fee < rent {
			return 0, refuse(Fee, "its fee is no amount")
		}
	}
	return fee, nil
}

// tokenAccount is where a wallet keeps a token.
func tokenAccount(owner, mint, program solana.PublicKey) (solana.PublicKey, error) {
	a, _, err := solana.FindProgramAddress([][]byte{owner[:], program[:], mint[:]}, solana.SPLAssociatedTokenAccountProgramID)
	if err != nil {
		return a, fmt.Errorf("token account of %s: %w", owner, err)
	}
	return a, nil
}
