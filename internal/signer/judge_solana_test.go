package signer_test

import (
	"encoding/binary"
	"testing"

	"github.com/gagliardetto/solana-go"
	ataprogram "github.com/gagliardetto/solana-go/programs/associated-token-account"
	computebudget "github.com/gagliardetto/solana-go/programs/compute-budget"
	"github.com/gagliardetto/solana-go/programs/system"
	tokenprogram "github.com/gagliardetto/solana-go/programs/token"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
)

const (
	carolText = "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"
	mintText  = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	solBudget = 3_000_000
)

var (
	carol = solana.MustPublicKeyFromBase58(carolText)
	mint  = solana.MustPublicKeyFromBase58(mintText)
	crook = solana.MustPublicKeyFromBase58("9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin")
)

// Instructions, written by hand: the signer must not share how they are read.
func ix(program solana.PublicKey, data []byte, accounts ...*solana.AccountMeta) solana.Instruction {
	return solana.NewInstruction(program, accounts, data)
}

func w(k solana.PublicKey) *solana.AccountMeta  { return solana.Meta(k).WRITE() }
func ws(k solana.PublicKey) *solana.AccountMeta { return solana.Meta(k).WRITE().SIGNER() }
func ro(k solana.PublicKey) *solana.AccountMeta { return solana.Meta(k) }

func solTransfer(from, to solana.PublicKey, n uint64) solana.Instruction {
	return ix(solana.SystemProgramID, binary.LittleEndian.AppendUint64([]byte{2, 0, 0, 0}, n), ws(from), w(to))
}

func budget(limit uint32, price uint64) []solana.Instruction {
	return []solana.Instruction{
		ix(solana.ComputeBudget, binary.LittleEndian.AppendUint32([]byte{2}, limit)),
		ix(solana.ComputeBudget, binary.LittleEndian.AppendUint64([]byte{3}, price)),
	}
}

// ata is a wallet's account of the token.
func ata(owner solana.PublicKey) solana.PublicKey {
	a, _, err := solana.FindAssociatedTokenAddress(owner, mint)
	if err != nil {
		panic(err)
	}
	return a
}

func tokenMove(from, to, owner solana.PublicKey, n uint64) solana.Instruction {
	data := append(binary.LittleEndian.AppendUint64([]byte{12}, n), 6)
	return ix(solana.TokenProgramID, data, w(from), ro(mint), w(to), ws(owner))
}

func openATA(payer, account, owner solana.PublicKey) solana.Instruction {
	return ix(solana.SPLAssociatedTokenAccountProgramID, []byte{1}, ws(payer), w(account), ro(owner), ro(mint), ro(solana.SystemProgramID), ro(solana.TokenProgramID))
}

func closeATA(account, to, owner solana.PublicKey) solana.Instruction {
	return ix(solana.TokenProgramID, []byte{9}, w(account), w(to), ws(owner))
}

func (r *rig) sol(k chain.Key) solana.PublicKey {
	return solana.MustPublicKeyFromBase58(r.address(cluster, k).Text())
}

func solPaper(r *rig, all ...solana.Instruction) chain.Paper {
	r.Helper()
	return solPaperBy(r, []chain.Key{hotKey()}, all...)
}

func solPaperBy(r *rig, keys []chain.Key, all ...solana.Instruction) chain.Paper {
	r.Helper()
	tx, err := solana.NewTransaction(all, solana.Hash{1, byte(r.n), byte(r.n >> 8)}, solana.TransactionPayer(r.sol(keys[0])))
	if err != nil {
		r.Fatal(err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		r.Fatal(err)
	}
	return chain.Paper{Chain: cluster, For: "t", Unsigned: raw, Keys: keys}
}

func solWish(r *rig, ref string) {
	r.wish("t", chain.Call{
		Chain: cluster, To: chain.CanonicalAddress(chain.Solana, carolText), Asset: chain.Asset{Ref: ref}, Amount: money.FromUint64(5000),
	}, solBudget)
}

func solPay(r *rig) []solana.Instruction {
	return append(budget(20_000, 1_000_000), solTransfer(r.sol(hotKey()), carol, 5000))
}

func splPay(r *rig) []solana.Instruction {
	hot := r.sol(hotKey())
	return append(budget(50_000, 1_000_000), openATA(hot, ata(carol), carol), tokenMove(ata(hot), ata(carol), hot, 5000))
}

func solGood(r *rig) chain.Paper {
	solWish(r, "")
	return solPaper(r, solPay(r)...)
}

func splGood(r *rig) chain.Paper {
	solWish(r, mintText)
	return solPaper(r, splPay(r)...)
}

func TestSolanaRefusals(t *testing.T) {
	t.Parallel()
	commonRefusals(t, solGood)
}

func TestSolanaTokenRefusals(t *testing.T) {
	t.Parallel()
	commonRefusals(t, splGood)
}

func TestSolanaLife(t *testing.T) {
	t.Parallel()
	commonLife(t, splGood, func(r *rig) chain.Paper { r.next(); return solPaper(r, splPay(r)...) })
}

func TestSolanaSigns(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]func(*rig) chain.Paper{"coin": solGood, "token": splGood} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := good(r)
			tx, err := solana.TransactionFromBytes(r.sign(p))
			if err != nil {
				t.Fatal(err)
			}
			if err := tx.VerifySignatures(); err != nil {
				t.Fatal(err)
			}
			tx.Signatures = nil
			if again, err := tx.MarshalBinary(); err != nil || string(again) != string(p.Unsigned) {
				t.Fatalf("another transaction was signed: %v", err)
			}
		})
	}
}

// TestSolanaReadsTheLibrarysInstructions: what the library writes for callers is read.
func TestSolanaReadsTheLibrarysInstructions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	hot := r.sol(hotKey())
	solWish(r, mintText)
	r.sign(solPaper(r,
		computebudget.NewSetComputeUnitLimitInstruction(90_000).Build(), computebudget.NewSetComputeUnitPriceInstruction(7).Build(),
		ataprogram.NewCreateIdempotentInstructionWithTokenProgram(hot, carol, mint, solana.TokenProgramID).Build(),
		tokenprogram.NewTransferCheckedInstruction(5000, 6, ata(hot), mint, ata(carol), hot, nil).Build()))
	solWish(r, "")
	r.sign(solPaper(r, system.NewTransferInstruction(5000, hot, carol).Build()))
}

func TestSolanaRefusesOtherTransactions(t *testing.T) {
	t.Parallel()
	le := binary.LittleEndian.AppendUint64
	for _, c := range []struct {
		name string
		do   func(hot solana.PublicKey) []solana.Instruction
		want signer.Reason
	}{
		{"another recipient", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, crook, 5000)}
		}, signer.Recipient},
		{"one more", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 5001)}
		}, signer.Amount},
		{"one less", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 4999)}
		}, signer.Amount},
		{"twice", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 5000), solTransfer(h, carol, 5000)}
		}, signer.Amount},
		{"in two parts", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 2500), solTransfer(h, carol, 2500)}
		}, signer.Amount},
		{"and somebody else", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 5000), solTransfer(h, crook, 1)}
		}, signer.Amount},
		{"nothing", func(solana.PublicKey) []solana.Instruction { return budget(1, 1) }, signer.Amount},
		{"account made with a seed", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{ix(solana.SystemProgramID, le([]byte{11, 0, 0, 0}, 5000), ws(h), w(carol))}
		}, signer.Method},
		{"account given away", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 5000), ix(solana.SystemProgramID, append([]byte{1, 0, 0, 0}, crook[:]...), ws(h))}
		}, signer.Method},
		{"durable nonce", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{ix(solana.SystemProgramID, []byte{4, 0, 0, 0}, w(crook), ro(solana.SysVarRecentBlockHashesPubkey), ws(h)), solTransfer(h, carol, 5000)}
		}, signer.Method},
		{"a third account", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{ix(solana.SystemProgramID, le([]byte{2, 0, 0, 0}, 5000), ws(h), w(carol), w(crook))}
		}, signer.Method},
		{"a byte more", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{ix(solana.SystemProgramID, append(le([]byte{2, 0, 0, 0}, 5000), 0), ws(h), w(carol))}
		}, signer.Method},
		{"an unknown program", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 5000), ix(crook, []byte{1}, ws(h))}
		}, signer.Method},
		{"memo", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 5000), ix(solana.MemoProgramID, []byte("hi"))}
		}, signer.Method},
		{"token instead of the coin", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{tokenMove(ata(h), ata(carol), h, 5000)}
		}, signer.WrongKeys},
		{"opens an account too", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(h, carol, 5000), openATA(h, ata(carol), carol)}
		}, signer.Method},
		{"price without a limit", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{budget(1, 5)[1], solTransfer(h, carol, 5000)}
		}, signer.Fee},
		{"price above the budget", func(h solana.PublicKey) []solana.Instruction {
			return append(budget(1_000_000, 3_000_000), solTransfer(h, carol, 5000))
		}, signer.Fee},
		{"price without end", func(h solana.PublicKey) []solana.Instruction {
			return append(budget(1<<32-1, 1<<64-1), solTransfer(h, carol, 5000))
		}, signer.Fee},
		{"two limits", func(h solana.PublicKey) []solana.Instruction {
			return append(append(budget(1, 1), budget(1, 1)...), solTransfer(h, carol, 5000))
		}, signer.Method},
		{"a bigger heap", func(h solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{ix(solana.ComputeBudget, []byte{1, 0, 0, 4, 0}), solTransfer(h, carol, 5000)}
		}, signer.Method},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			solWish(r, "")
			r.refused(solPaper(r, c.do(r.sol(hotKey()))...), c.want)
		})
	}
}

func TestSolanaRefusesOtherTokenTransactions(t *testing.T) {
	t.Parallel()
	one := func(i ...solana.Instruction) []solana.Instruction { return i }
	le := binary.LittleEndian.AppendUint64
	for _, c := range []struct {
		name string
		do   func(h solana.PublicKey) []solana.Instruction
		want signer.Reason
	}{
		{"another recipient", func(h solana.PublicKey) []solana.Instruction { return one(tokenMove(ata(h), ata(crook), h, 5000)) }, signer.Recipient},
		{"the wallet and not its account", func(h solana.PublicKey) []solana.Instruction { return one(tokenMove(ata(h), carol, h, 5000)) }, signer.Recipient},
		{"one more", func(h solana.PublicKey) []solana.Instruction { return one(tokenMove(ata(h), ata(carol), h, 5001)) }, signer.Amount},
		{"twice", func(h solana.PublicKey) []solana.Instruction {
			return one(tokenMove(ata(h), ata(carol), h, 5000), tokenMove(ata(h), ata(carol), h, 5000))
		}, signer.Amount},
		{"from another account", func(h solana.PublicKey) []solana.Instruction { return one(tokenMove(crook, ata(carol), h, 5000)) }, signer.WrongKeys},
		{"unchecked transfer", func(h solana.PublicKey) []solana.Instruction {
			return one(ix(solana.TokenProgramID, le([]byte{3}, 5000), w(ata(h)), w(ata(carol)), ws(h)))
		}, signer.Method},
		{"approve", func(h solana.PublicKey) []solana.Instruction {
			return one(tokenMove(ata(h), ata(carol), h, 5000), ix(solana.TokenProgramID, le([]byte{4}, 5000), w(ata(h)), ro(crook), ws(h)))
		}, signer.Method},
		{"set authority", func(h solana.PublicKey) []solana.Instruction {
			return one(ix(solana.TokenProgramID, append([]byte{6, 2, 1}, crook[:]...), w(ata(h)), ws(h)))
		}, signer.Method},
		{"burn", func(h solana.PublicKey) []solana.Instruction {
			return one(ix(solana.TokenProgramID, le([]byte{8}, 5000), w(ata(h)), w(mint), ws(h)))
		}, signer.Method},
		{"close our account", func(h solana.PublicKey) []solana.Instruction {
			return one(tokenMove(ata(h), ata(carol), h, 5000), closeATA(ata(h), h, h))
		}, signer.Method},
		{"close our account for somebody", func(h solana.PublicKey) []solana.Instruction {
			return one(tokenMove(ata(h), ata(carol), h, 5000), closeATA(ata(h), crook, h))
		}, signer.Method},
		{"another mint", func(h solana.PublicKey) []solana.Instruction {
			return one(ix(solana.TokenProgramID, append(le([]byte{12}, 5000), 6), w(ata(h)), ro(crook), w(ata(carol)), ws(h)))
		}, signer.Method},
		{"another token program", func(h solana.PublicKey) []solana.Instruction {
			return one(ix(solana.Token2022ProgramID, append(le([]byte{12}, 5000), 6), w(ata(h)), ro(mint), w(ata(carol)), ws(h)))
		}, signer.WrongKeys},
		{"a hook's account", func(h solana.PublicKey) []solana.Instruction {
			return one(ix(solana.TokenProgramID, append(le([]byte{12}, 5000), 6), w(ata(h)), ro(mint), w(ata(carol)), ws(h), w(crook)))
		}, signer.Method},
		{"opens somebody's account", func(h solana.PublicKey) []solana.Instruction {
			return one(openATA(h, ata(crook), crook), tokenMove(ata(h), ata(carol), h, 5000))
		}, signer.Method},
		{"opens a wrong account", func(h solana.PublicKey) []solana.Instruction {
			return one(openATA(h, crook, carol), tokenMove(ata(h), ata(carol), h, 5000))
		}, signer.Method},
		{"opens two", func(h solana.PublicKey) []solana.Instruction {
			return one(openATA(h, ata(carol), carol), openATA(h, ata(carol), carol), tokenMove(ata(h), ata(carol), h, 5000))
		}, signer.Method},
		{"opens, whatever there is", func(h solana.PublicKey) []solana.Instruction {
			return one(ix(solana.SPLAssociatedTokenAccountProgramID, []byte{0}, ws(h), w(ata(carol)), ro(carol), ro(mint), ro(solana.SystemProgramID), ro(solana.TokenProgramID)),
				tokenMove(ata(h), ata(carol), h, 5000))
		}, signer.Method},
		{"recovers a nested account", func(h solana.PublicKey) []solana.Instruction {
			return one(ix(solana.SPLAssociatedTokenAccountProgramID, []byte{2}, ws(h), w(ata(carol)), ro(carol), ro(mint), ro(solana.SystemProgramID), ro(solana.TokenProgramID)))
		}, signer.Method},
		{"coins along", func(h solana.PublicKey) []solana.Instruction {
			return one(tokenMove(ata(h), ata(carol), h, 5000), solTransfer(h, carol, 1))
		}, signer.Amount},
		{"the coin instead of the token", func(h solana.PublicKey) []solana.Instruction { return one(solTransfer(h, carol, 5000)) }, signer.WrongKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			solWish(r, mintText)
			r.refused(solPaper(r, c.do(r.sol(hotKey()))...), c.want)
		})
	}
}

// TestSolanaCountsRent: an account that is opened costs what it must hold.
func TestSolanaCountsRent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := splGood(r)
	exact := uint64(5000 + 50_000 + 2_039_280)
	r.change("t", func(k *send.Record) { k.Transfer.MaxFee = money.FromUint64(exact - 1) })
	r.refused(p, signer.Fee)
	r.change("t", func(k *send.Record) { k.Transfer.MaxFee = money.FromUint64(exact) })
	r.sign(p)
}

// TestSolanaFeeIsOurs: nobody else's account is asked to pay it, nor signs.
func TestSolanaFeeIsOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	solWish(r, "")
	p := solPaper(r, solPay(r)...)
	tx, err := solana.NewTransaction(solPay(r), solana.Hash{1}, solana.TransactionPayer(crook))
	if err != nil {
		t.Fatal(err)
	}
	if p.Unsigned, err = tx.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	r.refused(p, signer.WrongKeys)
	p.Keys = []chain.Key{hotKey(), hotKey()}
	r.refused(p, signer.WrongKeys)
}

// TestSolanaRefusesWhatIsHidden: accounts in tables and accounts for nothing.
func TestSolanaRefusesWhatIsHidden(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	solWish(r, "")
	p := solPaper(r, append(solPay(r), ix(solana.ComputeBudget, nil, w(crook)))...)
	r.refused(p, signer.Method)
	table := solana.PublicKey{5}
	tx, err := solana.NewTransaction(solPay(r), solana.Hash{1}, solana.TransactionPayer(r.sol(hotKey())),
		solana.TransactionAddressTables(map[solana.PublicKey]solana.PublicKeySlice{table: {carol}}))
	if err != nil {
		t.Fatal(err)
	}
	if tx.Message.NumLookups() == 0 {
		t.Fatal("the message has no table")
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	p.Unsigned = raw
	r.refused(p, signer.Method)
}

// solSweepBy is a paper signed by the account and two deposit addresses.
func solSweepBy(r *rig, do func(h, a, b solana.PublicKey) []solana.Instruction) chain.Paper {
	r.Helper()
	keys := []chain.Key{hotKey(), depositKey(3), depositKey(9)}
	p := solPaperBy(r, keys, do(r.sol(keys[0]), r.sol(keys[1]), r.sol(keys[2]))...)
	tx, err := solana.TransactionFromBytes(p.Unsigned)
	if err != nil {
		r.Fatal(err)
	}
	if tx.Message.AccountKeys[1] != r.sol(keys[1]) { // the library sorts the signers
		p.Keys = []chain.Key{keys[0], keys[2], keys[1]}
	}
	return p
}

func solSweepGood(r *rig) chain.Paper {
	sweepWish(r, cluster, mintText, solBudget)
	return solSweepBy(r, func(h, a, b solana.PublicKey) []solana.Instruction {
		return []solana.Instruction{tokenMove(ata(a), ata(h), a, 300), closeATA(ata(a), h, a), tokenMove(ata(b), ata(h), b, 4700)}
	})
}

func TestSolanaSweeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		token bool
		do    func(h, a, b solana.PublicKey) []solana.Instruction
		want  signer.Reason
	}{
		{"coins", false, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(a, h, 300), solTransfer(b, h, 4700)}
		}, ""},
		{"tokens", true, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{
				openATA(h, ata(h), h), tokenMove(ata(a), ata(h), a, 300), closeATA(ata(a), h, a),
				tokenMove(ata(b), ata(h), b, 4700), closeATA(ata(b), h, b),
			}
		}, ""},
		{"coins to somebody", false, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(a, h, 300), solTransfer(b, crook, 4700)}
		}, signer.Recipient},
		{"another amount", false, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(a, h, 301), solTransfer(b, h, 4699)}
		}, signer.Amount},
		{"one twice", false, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(a, h, 300), solTransfer(a, h, 300), solTransfer(b, h, 4700)}
		}, signer.Amount},
		{"from ourselves too", false, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{solTransfer(a, h, 300), solTransfer(b, h, 4700), solTransfer(h, crook, 1)}
		}, signer.Amount},
		{"tokens to somebody", true, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{tokenMove(ata(a), ata(h), a, 300), tokenMove(ata(b), ata(crook), b, 4700)}
		}, signer.Recipient},
		{"rent to somebody", true, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{tokenMove(ata(a), ata(h), a, 300), tokenMove(ata(b), ata(h), b, 4700), closeATA(ata(b), crook, b)}
		}, signer.Method},
		{"closes ours", true, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{tokenMove(ata(a), ata(h), a, 300), tokenMove(ata(b), ata(h), b, 4700), closeATA(ata(h), h, h)}
		}, signer.Method},
		{"moved by another", true, func(h, a, b solana.PublicKey) []solana.Instruction {
			return []solana.Instruction{tokenMove(ata(a), ata(h), b, 300), tokenMove(ata(b), ata(h), a, 4700)}
		}, signer.WrongKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ref := ""
			if c.token {
				ref = mintText
			}
			sweepWish(r, cluster, ref, solBudget)
			p := solSweepBy(r, c.do)
			if c.want == "" {
				r.sign(p)
				return
			}
			r.refused(p, c.want)
		})
	}
}
