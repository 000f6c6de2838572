package solana_test

import (
	"slices"
	"testing"

	sol "github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/token"

	"ferry/internal/chain"
	"ferry/internal/family/solana"
	"ferry/internal/money"
)

// naming adds the references of orders to what an instruction names.
func (s *stage) naming(i sol.Instruction, refs ...chain.Reference) sol.Instruction {
	s.t.Helper()
	data, err := i.Data()
	s.ok(err)
	accounts := i.Accounts()
	for _, r := range refs {
		accounts = append(accounts, sol.Meta(sol.PublicKey(r)))
	}
	return sol.NewInstruction(i.ProgramID(), accounts, data)
}

// gold is a transfer of gold to our own account from an account of Eve's or whoever lets
// her.
func (s *stage) goldHome(from sol.PublicKey, units uint64) sol.Instruction {
	s.t.Helper()
	a, _, err := sol.FindAssociatedTokenAddress(from, s.gold)
	s.ok(err)
	home, _, err := sol.FindAssociatedTokenAddress(s.own(), s.gold)
	s.ok(err)
	return token.NewTransferCheckedInstruction(units, 6, a, s.gold, home, s.eve.PublicKey(), nil).Build()
}

var homecomings = []struct {
	name string
	do   func(s *stage, r chain.Reference)
	got  []uint64
	why  solana.Reason
}{
	{"coins", func(s *stage, r chain.Reference) { s.play(s.naming(s.pays(s.own(), 1000), r)) }, []uint64{1000}, ""},
	{"coins in two parts", func(s *stage, r chain.Reference) { s.play(s.pays(s.own(), 400), s.naming(s.pays(s.own(), 600), r)) }, []uint64{1000}, ""},
	{"coins twice", func(s *stage, r chain.Reference) {
		s.play(s.naming(s.pays(s.own(), 1000), r))
		s.play(s.naming(s.pays(s.own(), 2000), r))
	}, []uint64{1000, 2000}, ""},
	{"the same order named twice", func(s *stage, r chain.Reference) { s.play(s.naming(s.pays(s.own(), 1000), r, r)) }, []uint64{1000}, ""},
	{"gold", func(s *stage, r chain.Reference) { s.play(s.naming(s.goldHome(s.eve.PublicKey(), 7), r)) }, []uint64{7}, ""},
	{"coins and gold", func(s *stage, r chain.Reference) {
		s.play(s.pays(s.own(), 1000), s.naming(s.goldHome(s.eve.PublicKey(), 7), r))
	}, []uint64{7, 1000}, ""},
	{"nobody is named", func(s *stage, _ chain.Reference) { s.play(s.pays(s.own(), 1000)) }, nil, ""},
	{"another order is named", func(s *stage, r chain.Reference) { r[0]++; s.play(s.naming(s.pays(s.own(), 1000), r)) }, nil, ""},
	{"two orders are named", func(s *stage, r chain.Reference) {
		s.play(s.naming(s.pays(s.own(), 1000), r, chain.ReferenceTo("second")))
	}, nil, solana.SeveralOrders},
	{"somebody else is paid", func(s *stage, r chain.Reference) { s.play(s.naming(s.pays(key("bob").PublicKey(), ordinary), r)) }, nil, ""},
	{"the reference itself is paid", func(s *stage, r chain.Reference) { s.play(s.pays(sol.PublicKey(r), ordinary)) }, nil, ""},
	{"nothing is paid", func(s *stage, r chain.Reference) { s.play(s.naming(s.pays(s.own(), 0), r)) }, nil, ""},
	{"it fails", func(s *stage, r chain.Reference) { s.play(s.naming(s.pays(s.own(), 1000), r), s.fail()) }, nil, ""},
	{"a token that is not listed", func(s *stage, r chain.Reference) {
		fake := s.newToken("gold, but not ours", 6)
		s.give(fake, s.eve.PublicKey(), 500)
		steps := moveUnits(s.eve, fake, s.own(), 500)
		s.play(steps[0], s.naming(steps[1], r))
	}, nil, solana.ForeignMint},
	{"units that are made by it", func(s *stage, r chain.Reference) {
		mint := key("mint plain").PublicKey()
		s.mintTo2022("plain", s.own(), 1)
		s.mine(1)
		home, _, err := sol.FindAssociatedTokenAddressWithProgram(s.own(), mint, sol.Token2022ProgramID)
		s.ok(err)
		s.play(s.naming(s.as2022(token.NewMintToInstruction(500, mint, home, s.eve.PublicKey(), nil).Build()), r))
	}, nil, solana.NotSigned},
	{"gold of somebody who did not sign", func(s *stage, r chain.Reference) {
		bob := key("bob")
		s.give(s.gold, bob.PublicKey(), 100)
		s.mine(1)
		a, _, err := sol.FindAssociatedTokenAddress(bob.PublicKey(), s.gold)
		s.ok(err)
		s.submit([]sol.PrivateKey{s.eve, bob}, token.NewApproveInstruction(50, a, s.eve.PublicKey(), bob.PublicKey(), nil).Build())
		s.mine(1)
		s.play(s.naming(s.goldHome(bob.PublicKey(), 50), r))
	}, nil, solana.NotSigned},
	{"coins of an account that did not sign", func(s *stage, r chain.Reference) {
		k, steps := s.spareAccount("closed", s.gold, s.eve.PublicKey())
		s.submit([]sol.PrivateKey{s.eve, k}, steps...)
		s.mine(1)
		s.play(s.naming(token.NewCloseAccountInstruction(k.PublicKey(), s.own(), s.eve.PublicKey(), nil).Build(), r))
	}, nil, solana.NotSigned},
}

func TestWhatComesStraightHomeIsCreditedToTheOneOrderThatItNames(t *testing.T) {
	t.Parallel()
	plain := solana.Token{Mint: key("mint plain").PublicKey().String(), Decimals: 6, Program: sol.Token2022ProgramID.String()}
	s := &stage{rig: newRig(t, plain), eve: key("eve")}
	s.fund(s.eve.PublicKey(), 100*oneSOL)
	s.give(s.gold, s.eve.PublicKey(), 1_000_000)
	s.mint2022("plain", 0, nil)
	s.mine(1)
	s.settle()
	second := chain.ReferenceTo("second").In(chain.Solana)
	watched := []chain.Address{second}
	for _, c := range homecomings {
		watched = append(watched, chain.ReferenceTo(c.name).In(chain.Solana))
	}
	for _, c := range homecomings {
		ref := chain.ReferenceTo(c.name)
		c.do(s, ref)
		s.mine(1)
		s.noticed.drain()
		var got []uint64
		for _, d := range s.found(watched...) {
			n, _ := d.Amount.Uint64()
			if d.To == ref.In(chain.Solana) {
				got = append(got, n)
			}
			if d.To == second {
				t.Errorf("%s: the second order is credited", c.name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.got) {
			t.Errorf("%s: credited %v", c.name, got)
		}
		var why []solana.Reason
		for _, x := range s.noticed.drain() {
			if x.To == ref.In(chain.Solana) {
				why = append(why, x.Reason)
			}
		}
		if c.why != "" && !slices.Contains(why, c.why) {
			t.Errorf("%s: noticed %v", c.name, why)
		}
	}
}

// TestWhatSomebodyIsAskedToSignPays signs exactly what Fund says, also for a token of
// which our account has none yet.
func TestWhatSomebodyIsAskedToSignPays(t *testing.T) {
	t.Parallel()
	plain := solana.Token{Mint: key("mint plain").PublicKey().String(), Decimals: 6, Program: sol.Token2022ProgramID.String()}
	s := &stage{rig: newRig(t, plain), eve: key("eve")}
	s.fund(s.eve.PublicKey(), 100*oneSOL)
	s.give(s.gold, s.eve.PublicKey(), 1_000_000)
	s.mint2022("plain", 0, nil)
	s.mine(1)
	s.settle()
	s.mintTo2022("plain", s.eve.PublicKey(), 500)
	s.mine(1)
	for name, ref := range map[string]string{"SOL": "", "gold": s.gold.String(), "one of which we have none": plain.Mint} {
		due := chain.Due{From: addr(s.eve.PublicKey()), Asset: chain.Asset{Chain: testID, Ref: ref}, Amount: money.FromUint64(321), For: chain.ReferenceTo(name)}
		f, err := s.chain.Fund(t.Context(), due)
		s.ok(err)
		tx, err := sol.TransactionFromBytes(f.Pay.Serialized)
		s.ok(err)
		if len(tx.Signatures) != 1 || !tx.Signatures[0].IsZero() || len(f.Before) != 0 {
			t.Errorf("%s: %d signatures, %v before it", name, len(tx.Signatures), f.Before)
		}
		var height uint64
		s.ask(&height, "getBlockHeight", newest)
		if f.Pay.ValidTo <= height || f.Pay.ValidTo > height+150 {
			t.Errorf("%s: it lands up to %d, and the height is %d", name, f.Pay.ValidTo, height)
		}
		_, err = tx.Sign(func(sol.PublicKey) *sol.PrivateKey { return &s.eve })
		s.ok(err)
		raw, err := tx.MarshalBinary()
		s.ok(err)
		s.submitRaw(raw)
		s.mine(1)
		if got := s.found(due.For.In(chain.Solana)); len(got) != 1 || got[0].Amount != due.Amount || got[0].Asset != due.Asset {
			t.Errorf("%s: credited %v", name, got)
		}
	}
	good := chain.Due{From: addr(s.eve.PublicKey()), Asset: testID.Native(), Amount: money.FromUint64(1)}
	for name, change := range map[string]func(*chain.Due){
		"nothing":         func(d *chain.Due) { d.Amount = money.Amount{} },
		"too much":        func(d *chain.Due) { d.Amount = money.MustParse("18446744073709551616") },
		"our own account": func(d *chain.Due) { d.From = s.chain.Own(hot) },
		"nobody":          func(d *chain.Due) { d.From = chain.Address{} },
		"another chain":   func(d *chain.Due) { d.Asset.Chain = "solana:other" },
		"another token":   func(d *chain.Due) { d.Asset.Ref = key("foreign").PublicKey().String() },
	} {
		due := good
		change(&due)
		if _, err := s.chain.Fund(t.Context(), due); err == nil {
			t.Errorf("%s: somebody is asked to pay", name)
		}
	}
}
