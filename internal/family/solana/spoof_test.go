package solana_test

import (
	"slices"
	"strings"
	"testing"

	sol "github.com/gagliardetto/solana-go"
	lookup "github.com/gagliardetto/solana-go/programs/address-lookup-table"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/memo"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"

	"ferry/internal/chain"
	"ferry/internal/family/solana"
	"ferry/internal/money"
)

// spoof is a transaction that looks like a payment to an address of ours.
type spoof struct {
	id, name string
	want     solana.Reason
	send     func(s *stage, to sol.PublicKey) chain.TxID
}

// stage is a rig with a rich stranger.
type stage struct {
	*rig
	eve sol.PrivateKey
}

func (s *stage) play(steps ...sol.Instruction) chain.TxID {
	return s.submit([]sol.PrivateKey{s.eve}, steps...)
}

func (s *stage) account(mint sol.PublicKey) sol.PublicKey {
	a, _, err := sol.FindAssociatedTokenAddress(s.eve.PublicKey(), mint)
	s.ok(err)
	return a
}

// fail is an instruction that fails.
func (s *stage) fail() sol.Instruction {
	return system.NewTransferInstruction(1<<60, s.eve.PublicKey(), key("nobody").PublicKey()).Build()
}

func (s *stage) pays(to sol.PublicKey, lamports uint64) sol.Instruction {
	return system.NewTransferInstruction(lamports, s.eve.PublicKey(), to).Build()
}

// spareAccount makes a token account at an address that is not derived from its owner.
func (s *stage) spareAccount(name string, mint, owner sol.PublicKey) (sol.PrivateKey, []sol.Instruction) {
	k := key(name)
	return k, []sol.Instruction{
		system.NewCreateAccountInstruction(2_039_280, 165, sol.TokenProgramID, s.eve.PublicKey(), k.PublicKey()).Build(),
		token.NewInitializeAccount3Instruction(owner, k.PublicKey(), mint).Build(),
	}
}

// by2022 are mints of the second token program with an extension each, which are
// listed without it being allowed to them: its size, and what makes it, in the bytes
// of the program's instruction.
var by2022 = map[string]struct {
	size int
	init func(authority []byte) []byte
}{
	"transfer_fee": {108, func(a []byte) []byte {
		return slices.Concat([]byte{26, 0, 1}, a, []byte{1}, a, []byte{0xf4, 1, 0, 0, 0, 0, 1, 0, 0, 0})
	}},
	"transfer_hook":         {64, func(a []byte) []byte { return slices.Concat([]byte{36, 0}, a, a) }},
	"permanent_delegate":    {32, func(a []byte) []byte { return slices.Concat([]byte{35}, a) }},
	"default_account_state": {1, func([]byte) []byte { return []byte{28, 0, 2} }},
	"non_transferable":      {0, func([]byte) []byte { return []byte{32} }},
	"interest_bearing":      {52, func(a []byte) []byte { return slices.Concat([]byte{33, 0}, a, []byte{0x84, 3}) }},
	"mint_close_authority":  {32, func(a []byte) []byte { return slices.Concat([]byte{25, 1}, a) }},
}

// as2022 is an instruction of the first token program for the second, which has them all.
func (s *stage) as2022(i sol.Instruction) sol.Instruction {
	data, err := i.Data()
	s.ok(err)
	return sol.NewInstruction(sol.Token2022ProgramID, i.Accounts(), data)
}

// mint2022 makes a mint of the second token program.
func (s *stage) mint2022(name string, size int, init func(authority []byte) []byte) {
	s.t.Helper()
	eve, mint := s.eve.PublicKey(), key("mint "+name)
	bytes := uint64(82)
	if init != nil {
		bytes = uint64(166 + 4 + size)
	}
	steps := []sol.Instruction{system.NewCreateAccountInstruction(oneSOL/10, bytes, sol.Token2022ProgramID, eve, mint.PublicKey()).Build()}
	if init != nil {
		steps = append(steps, sol.NewInstruction(sol.Token2022ProgramID, sol.AccountMetaSlice{sol.Meta(mint.PublicKey()).WRITE()}, init(eve[:])))
	}
	steps = append(steps, s.as2022(token.NewInitializeMint2Instruction(6, eve, eve, mint.PublicKey()).Build()))
	s.submit([]sol.PrivateKey{s.eve, mint}, steps...)
}

// mintTo2022 gives units of such a mint to somebody, thawing what is frozen from birth.
func (s *stage) mintTo2022(name string, to sol.PublicKey, units uint64) chain.TxID {
	s.t.Helper()
	eve, mint := s.eve.PublicKey(), key("mint "+name).PublicKey()
	home, _, err := sol.FindAssociatedTokenAddressWithProgram(to, mint, sol.Token2022ProgramID)
	s.ok(err)
	steps := []sol.Instruction{ata.NewCreateIdempotentInstructionWithTokenProgram(eve, to, mint, sol.Token2022ProgramID).Build()}
	if name == "default_account_state" {
		steps = append(steps, s.as2022(token.NewThawAccountInstruction(home, mint, eve, nil).Build()))
	}
	return s.play(append(steps, s.as2022(token.NewMintToInstruction(units, mint, home, eve, nil).Build()))...)
}

func spoofs() []spoof {
	all := []spoof{
		{"M39", "a transfer in a transaction that fails", solana.Failed, func(s *stage, to sol.PublicKey) chain.TxID {
			return s.play(s.pays(to, ordinary), s.fail())
		}},
		{"M39", "a token transfer in a transaction that fails", solana.Failed, func(s *stage, to sol.PublicKey) chain.TxID {
			s.play(ata.NewCreateIdempotentInstruction(s.eve.PublicKey(), to, s.gold).Build())
			return s.play(append(moveUnits(s.eve, s.gold, to, 5), s.fail())...)
		}},
		{"M41", "a mint with the same name", solana.ForeignMint, func(s *stage, to sol.PublicKey) chain.TxID {
			fake := s.newToken("gold, but not ours", 6)
			s.give(fake, s.eve.PublicKey(), 500)
			return s.play(moveUnits(s.eve, fake, to, 500)...)
		}},
		{"M41", "a mint of the second token program that is not listed", solana.ForeignMint, func(s *stage, to sol.PublicKey) chain.TxID {
			s.mint2022("unlisted", 0, nil)
			return s.mintTo2022("unlisted", to, 500)
		}},
		{"M43", "a token account of ours that is not the derived one", solana.OtherAccount, func(s *stage, to sol.PublicKey) chain.TxID {
			k, steps := s.spareAccount("spare", s.gold, to)
			steps = append(steps, token.NewTransferCheckedInstruction(7, 6, s.account(s.gold), s.gold, k.PublicKey(), s.eve.PublicKey(), nil).Build())
			return s.submit([]sol.PrivateKey{s.eve, k}, steps...)
		}},
		{"M43", "a full token account that is made over to us", solana.OtherAccount, func(s *stage, to sol.PublicKey) chain.TxID {
			k, steps := s.spareAccount("made over", s.gold, s.eve.PublicKey())
			steps = append(steps, token.NewTransferCheckedInstruction(7, 6, s.account(s.gold), s.gold, k.PublicKey(), s.eve.PublicKey(), nil).Build())
			s.submit([]sol.PrivateKey{s.eve, k}, steps...)
			return s.play(token.NewSetAuthorityInstruction(token.AuthorityAccountOwner, to, k.PublicKey(), s.eve.PublicKey(), nil).Build())
		}},
		{"M43", "an address's own account that was somebody else's meanwhile", solana.OwnerChanged, ownerChanged},
		{"M44", "an allowance for us to spend, which is no payment", solana.MovedNothing, func(s *stage, to sol.PublicKey) chain.TxID {
			return s.play(token.NewApproveInstruction(1000, s.account(s.gold), to, s.eve.PublicKey(), nil).Build())
		}},
		{"M46", "less than an account can have", solana.Failed, func(s *stage, to sol.PublicKey) chain.TxID {
			return s.play(s.pays(to, 1000))
		}},
		{"M47", "wrapped SOL", solana.WrappedSOL, func(s *stage, to sol.PublicKey) chain.TxID {
			home, _, err := sol.FindAssociatedTokenAddress(to, sol.WrappedSol)
			s.ok(err)
			return s.play(ata.NewCreateIdempotentInstruction(s.eve.PublicKey(), to, sol.WrappedSol).Build(),
				s.pays(home, ordinary), token.NewSyncNativeInstruction(home).Build())
		}},
		{"M39", "a transfer of nothing with a memo that says otherwise", solana.MovedNothing, func(s *stage, to sol.PublicKey) chain.TxID {
			return s.play(s.pays(to, 0), memo.NewMemoInstruction([]byte("Transfer: 100 SOL to "+to.String())).Build())
		}},
		{"M41", "a token transfer of nothing", solana.MovedNothing, func(s *stage, to sol.PublicKey) chain.TxID {
			return s.play(moveUnits(s.eve, s.gold, to, 0)...)
		}},
		{"M43", "rent for an account of ours", solana.MovedNothing, func(s *stage, to sol.PublicKey) chain.TxID {
			return s.play(ata.NewCreateIdempotentInstruction(s.eve.PublicKey(), to, s.gold).Build())
		}},
		{"M65", "a transfer of an address to itself", solana.MovedNothing, func(s *stage, to sol.PublicKey) chain.TxID {
			s.play(s.pays(to, ordinary))
			return s.signedByDeposit(to, system.NewTransferInstruction(ordinary, to, to).Build())
		}},
		{"M65", "a transfer away from an address", solana.TookAway, func(s *stage, to sol.PublicKey) chain.TxID {
			s.play(s.pays(to, ordinary))
			return s.signedByDeposit(to, system.NewTransferInstruction(ordinary, to, s.eve.PublicKey()).Build())
		}},
	}
	for name := range by2022 {
		all = append(all, spoof{"M44", "a listed mint with " + name, solana.RefusedMint, func(s *stage, to sol.PublicKey) chain.TxID {
			return s.mintTo2022(name, to, 500)
		}})
	}
	slices.SortFunc(all, func(a, b spoof) int { return strings.Compare(a.id+a.name, b.id+b.name) })
	return all
}

// ownerChanged gives an address's own token account away, fills it, and gives it back.
func ownerChanged(s *stage, to sol.PublicKey) chain.TxID {
	home, _, err := sol.FindAssociatedTokenAddress(to, s.gold)
	s.ok(err)
	s.play(ata.NewCreateIdempotentInstruction(s.eve.PublicKey(), to, s.gold).Build())
	s.signedByDeposit(to, token.NewSetAuthorityInstruction(token.AuthorityAccountOwner, s.eve.PublicKey(), home, to, nil).Build())
	return s.play(
		token.NewTransferCheckedInstruction(9, 6, s.account(s.gold), s.gold, home, s.eve.PublicKey(), nil).Build(),
		token.NewSetAuthorityInstruction(token.AuthorityAccountOwner, to, home, s.eve.PublicKey(), nil).Build())
}

// signedByDeposit is a transaction that Eve pays for and one of our deposit keys signs,
// as if it were stolen.
func (s *stage) signedByDeposit(to sol.PublicKey, steps ...sol.Instruction) chain.TxID {
	s.t.Helper()
	var h struct{ Value struct{ Blockhash string } }
	s.ask(&h, "getLatestBlockhash", newest)
	steps = append(steps, memo.NewMemoInstruction([]byte{byte('a' + s.salt.Add(1)%26)}).Build())
	tx, err := sol.NewTransaction(steps, sol.MustHashFromBase58(h.Value.Blockhash), sol.TransactionPayer(s.eve.PublicKey()))
	s.ok(err)
	message, err := tx.Message.MarshalBinary()
	s.ok(err)
	eve, err := s.eve.Sign(message)
	s.ok(err)
	deposit, err := s.deposits[to].Sign(message)
	s.ok(err)
	tx.Signatures = []sol.Signature{eve, deposit}
	s.ok(tx.VerifySignatures())
	raw, err := tx.MarshalBinary()
	s.ok(err)
	return s.submitRaw(raw)
}

func TestSpoofedDepositsAreNotCreditedAndEachIsNoticed(t *testing.T) {
	t.Parallel()
	var listed []solana.Token
	for name := range by2022 {
		listed = append(listed, solana.Token{Mint: key("mint " + name).PublicKey().String(), Decimals: 6, Program: sol.Token2022ProgramID.String()})
	}
	s := &stage{rig: newRig(t, listed...), eve: key("eve")}
	s.fund(s.eve.PublicKey(), 100*oneSOL)
	s.give(s.gold, s.eve.PublicKey(), 1_000_000)
	for name, m := range by2022 {
		s.mint2022(name, m.size, m.init)
	}
	s.mine(1)
	s.settle()
	all := spoofs()
	if len(all) < 20 {
		t.Fatalf("these are only %d", len(all))
	}
	txs := map[chain.Address]chain.TxID{}
	var ours []chain.Address
	for i, row := range all {
		to := s.newDeposit(uint32(i))
		ours, txs[addr(to)] = append(ours, addr(to)), row.send(s, to)
	}
	s.mine(1)
	s.settle()
	found := s.found(ours...)
	noticed := s.noticed.drain()
	for i, row := range all {
		to := ours[i]
		for _, d := range found {
			if d.To == to && d.Tx == txs[to] {
				t.Errorf("%s: %s was credited: %v", row.id, row.name, d)
			}
		}
		var reasons []solana.Reason
		for _, n := range noticed {
			if n.To == to && n.Tx == txs[to] {
				reasons = append(reasons, n.Reason)
			}
		}
		if !slices.Contains(reasons, row.want) {
			t.Errorf("%s: %s was noticed as %v, want %s", row.id, row.name, reasons, row.want)
		}
	}
	if err := s.chain.Check(t.Context()); err == nil {
		t.Error("listed mints that can do what is not allowed to them pass")
	} else {
		for name := range by2022 {
			if !strings.Contains(err.Error(), "extension "+name+",") {
				t.Errorf("%s is not refused by name: %v", name, err)
			}
		}
	}
}

func TestTokensWithAllowedExtensionsAndWithoutAnyAreDealtIn(t *testing.T) {
	t.Parallel()
	token := func(name string, allowed ...string) solana.Token {
		return solana.Token{Mint: key("mint " + name).PublicKey().String(), Decimals: 6, Program: sol.Token2022ProgramID.String(), Extensions: allowed}
	}
	s := &stage{rig: newRig(t, token("plain"), token("permanent_delegate", "permanent_delegate")), eve: key("eve")}
	s.fund(s.eve.PublicKey(), 100*oneSOL)
	s.mint2022("plain", 0, nil)
	s.mint2022("permanent_delegate", by2022["permanent_delegate"].size, by2022["permanent_delegate"].init)
	s.mine(1)
	s.settle()
	s.ok(s.chain.Check(t.Context()))
	for i, name := range []string{"plain", "permanent_delegate"} {
		to := s.depositAddress(uint32(i))
		s.mintTo2022(name, pub(to), 500)
		s.mintTo2022(name, s.own(), 500)
		s.mine(1)
		s.settle()
		found := s.found(to)
		if len(found) != 1 || found[0].Amount != money.FromUint64(500) || found[0].Asset.Ref != key("mint "+name).PublicKey().String() {
			t.Fatalf("%s: found %v", name, found)
		}
		bob := key("bob").PublicKey()
		call := chain.Call{Chain: testID, From: hot, To: addr(bob), Asset: found[0].Asset, Amount: money.FromUint64(200)}
		s.lands(call)
		sweep := chain.Call{
			Chain: testID, From: hot, To: s.chain.Own(hot), Asset: found[0].Asset, Amount: found[0].Amount,
			Sources: []chain.Source{{Address: to, Index: uint32(i), Amount: found[0].Amount}},
		}
		s.lands(sweep)
		if got, err := s.chain.Funds(t.Context(), hot, found[0].Asset); err != nil || got != money.FromUint64(800) {
			t.Fatalf("%s: there are %s at home, %v", name, got, err)
		}
	}
}

func TestAPaymentThroughALookupTableIsFound(t *testing.T) {
	t.Parallel()
	s := &stage{rig: newRig(t), eve: key("eve")}
	s.fund(s.eve.PublicKey(), 10*oneSOL)
	s.mine(1)
	to := pub(s.depositAddress(1))
	var slot uint64
	s.ask(&slot, "getSlot", newest)
	create, table, err := lookup.NewCreateLookupTableInstruction(s.eve.PublicKey(), s.eve.PublicKey(), slot)
	s.ok(err)
	s.play(create.Build(), lookup.NewExtendLookupTableInstruction(table, s.eve.PublicKey(), s.eve.PublicKey(), []sol.PublicKey{to}).Build())
	s.mine(2)
	var h struct{ Value struct{ Blockhash string } }
	s.ask(&h, "getLatestBlockhash", newest)
	tx, err := sol.NewTransaction([]sol.Instruction{s.pays(to, ordinary)}, sol.MustHashFromBase58(h.Value.Blockhash),
		sol.TransactionPayer(s.eve.PublicKey()), sol.TransactionAddressTables(map[sol.PublicKey]sol.PublicKeySlice{table: {to}}))
	s.ok(err)
	_, err = tx.Sign(func(sol.PublicKey) *sol.PrivateKey { return &s.eve })
	s.ok(err)
	raw, err := tx.MarshalBinary()
	s.ok(err)
	if slices.Contains(tx.Message.AccountKeys[:2], to) {
		t.Fatal("the recipient stands in the transaction itself")
	}
	id := s.submitRaw(raw)
	s.mine(1)
	s.settle()
	if found := s.found(addr(to)); len(found) != 1 || found[0].Tx != id || found[0].Amount != money.FromUint64(ordinary) {
		t.Fatalf("found %v", found)
	}
}
