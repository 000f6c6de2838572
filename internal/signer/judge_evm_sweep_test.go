package signer_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
)

const sweeperABI = `[{"type":"function","name":"sweep","inputs":[{"type":"address"},{"type":"address[]"},{"type":"uint256[]"}]},
{"type":"function","name":"give","inputs":[{"type":"address"},{"type":"uint256"}]}]`

// sweepData writes the call with the library, which is another way than the signer's.
func sweepData(r *rig, method string, args ...any) []byte {
	r.Helper()
	a, err := abi.JSON(strings.NewReader(sweeperABI))
	if err != nil {
		r.Fatal(err)
	}
	data, err := a.Pack(method, args...)
	if err != nil {
		r.Fatal(err)
	}
	return data
}

// sweepWish brings 300 and 4700 home from the deposit addresses 3 and 9.
func sweepWish(r *rig, id chain.ID, ref string, maxFee uint64) {
	r.wish("t", chain.Call{
		Chain: id, To: r.address(id, hotKey()), Asset: chain.Asset{Ref: ref}, Amount: money.FromUint64(5000),
		Sources: []chain.Source{
			{Address: r.address(id, depositKey(3)), Index: 3, Amount: money.FromUint64(300)},
			{Address: r.address(id, depositKey(9)), Index: 9, Amount: money.FromUint64(4700)},
		},
	}, maxFee)
	r.change("t", func(k *send.Record) { k.Transfer.USD = 0 }) // nothing leaves
}

func sources(r *rig) []common.Address {
	return []common.Address{
		common.HexToAddress(r.address(ether, depositKey(3)).Text()), common.HexToAddress(r.address(ether, depositKey(9)).Text()),
	}
}

func amounts(ns ...int64) (all []*big.Int) {
	for _, n := range ns {
		all = append(all, big.NewInt(n))
	}
	return all
}

// sweepTx authorises the first of the two, as if the other had been swept before.
func sweepTx(r *rig, of common.Address) *types.SetCodeTx {
	sweeper := common.HexToAddress(sweeperText)
	return &types.SetCodeTx{
		ChainID: uint256.NewInt(1), Nonce: 7, Gas: 40_000, GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(2e9),
		To: sweeper, Value: new(uint256.Int), Data: sweepData(r, "sweep", of, sources(r), amounts(300, 4700)),
		AuthList: []types.SetCodeAuthorization{{ChainID: *uint256.NewInt(1), Address: sweeper, Nonce: 0}},
	}
}

func sweepPaper(r *rig, tx types.TxData) chain.Paper {
	p := evmPaper(r, tx)
	p.Keys = []chain.Key{hotKey(), depositKey(3)}
	return p
}

func evmSweepGood(r *rig) chain.Paper {
	sweepWish(r, ether, tokenText, evmBudget)
	return sweepPaper(r, sweepTx(r, token))
}

func TestEVMSweeps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ref string
		of  common.Address
	}{"coin": {"", common.Address{}}, "token": {tokenText, token}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			sweepWish(r, ether, c.ref, evmBudget)
			raw := r.sign(sweepPaper(r, sweepTx(r, c.of)))
			tx := new(types.Transaction)
			if err := tx.UnmarshalBinary(raw); err != nil {
				t.Fatal(err)
			}
			who, err := tx.SetCodeAuthorizations()[0].Authority()
			if err != nil || who != sources(r)[0] {
				t.Fatalf("authorised by %s, %v", who, err)
			}
			from, err := types.Sender(types.LatestSignerForChainID(big.NewInt(1)), tx)
			if err != nil || from != common.HexToAddress(r.address(ether, hotKey()).Text()) {
				t.Fatalf("from %s, %v", from, err)
			}
			r.keep("t", raw)
			// All of them were authorised before: a plain call, with the same nonce.
			x := sweepTx(r, c.of)
			plain := &types.DynamicFeeTx{
				ChainID: big.NewInt(1), Nonce: 7, Gas: x.Gas, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e9), To: &x.To,
				Value: new(big.Int), Data: x.Data,
			}
			r.sign(evmPaper(r, plain))
		})
	}
}

func TestEVMRefusesOtherSweeps(t *testing.T) {
	t.Parallel()
	mallory := common.HexToAddress("0x00000000000000000000000000000000000bad00")
	for _, c := range []struct {
		name  string
		spoil func(r *rig, tx *types.SetCodeTx, p *chain.Paper)
		want  signer.Reason
	}{
		{"another contract", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.To = mallory }, signer.Recipient},
		{"authorises another contract", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.AuthList[0].Address = mallory }, signer.Method},
		{"takes the authorization back", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.AuthList[0].Address = common.Address{} }, signer.Method},
		{"authorises on every chain", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.AuthList[0].ChainID.Clear() }, signer.WrongChain},
		{"authorises on another chain", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.AuthList[0].ChainID.SetUint64(2) }, signer.WrongChain},
		{"the hot account authorises", func(_ *rig, _ *types.SetCodeTx, p *chain.Paper) { p.Keys[1] = hotKey() }, signer.WrongKeys},
		{"a deposit address nobody named", func(_ *rig, _ *types.SetCodeTx, p *chain.Paper) { p.Keys[1] = depositKey(4) }, signer.WrongKeys},
		{"one authorises twice", func(_ *rig, tx *types.SetCodeTx, p *chain.Paper) {
			tx.AuthList = append(tx.AuthList, tx.AuthList[0])
			p.Keys = append(p.Keys, p.Keys[1])
		}, signer.WrongKeys},
		{"an authorization without a key", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) {
			tx.AuthList = append(tx.AuthList, tx.AuthList[0])
		}, signer.WrongKeys},
		{"a key without an authorization", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.AuthList = nil }, signer.WrongKeys},
		{"another amount", func(r *rig, tx *types.SetCodeTx, _ *chain.Paper) {
			tx.Data = sweepData(r, "sweep", common.Address{}, sources(r), amounts(300, 4701))
		}, signer.Method},
		{"another address", func(r *rig, tx *types.SetCodeTx, _ *chain.Paper) {
			tx.Data = sweepData(r, "sweep", common.Address{}, []common.Address{sources(r)[0], mallory}, amounts(300, 4700))
		}, signer.Method},
		{"another token", func(r *rig, tx *types.SetCodeTx, _ *chain.Paper) {
			tx.Data = sweepData(r, "sweep", mallory, sources(r), amounts(300, 4700))
		}, signer.Method},
		{"one of them only", func(r *rig, tx *types.SetCodeTx, _ *chain.Paper) {
			tx.Data = sweepData(r, "sweep", common.Address{}, sources(r)[:1], amounts(300))
		}, signer.Method},
		{"another method", func(r *rig, tx *types.SetCodeTx, _ *chain.Paper) {
			tx.Data = sweepData(r, "give", common.Address{}, big.NewInt(5000))
		}, signer.Method},
		{"a byte more", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.Data = append(tx.Data, 0) }, signer.Method},
		{"coins along", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.Value = uint256.NewInt(1) }, signer.Amount},
		{"too dear", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.Gas = 60_000 }, signer.Fee},
		{"signed authorization", func(_ *rig, tx *types.SetCodeTx, _ *chain.Paper) { tx.AuthList[0].R.SetUint64(1) }, signer.Unreadable},
		{"no sweeper configured", func(r *rig, _ *types.SetCodeTx, _ *chain.Paper) { r.policy.Sweepers = nil; r.remake() }, signer.Method},
		{"wish goes to somebody", func(r *rig, _ *types.SetCodeTx, _ *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.To = chain.CanonicalAddress(chain.EVM, aliceText) })
		}, signer.Recipient},
		{"wish with another sum", func(r *rig, _ *types.SetCodeTx, _ *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.Amount = money.FromUint64(5001) })
		}, signer.Amount},
		{"wish with an address that is not ours", func(r *rig, _ *types.SetCodeTx, _ *chain.Paper) {
			r.change("t", func(k *send.Record) {
				k.Transfer.Call.Sources[0].Address = chain.CanonicalAddress(chain.EVM, aliceText)
			})
		}, signer.WrongKeys},
		{"wish of a token that is none", func(r *rig, _ *types.SetCodeTx, _ *chain.Paper) {
			r.change("t", func(k *send.Record) { k.Transfer.Call.Asset.Ref = "usdc" })
		}, signer.Method},
		{"wish names an address twice", func(r *rig, tx *types.SetCodeTx, _ *chain.Paper) {
			r.change("t", func(k *send.Record) {
				c := &k.Transfer.Call
				c.Sources[1], c.Amount = c.Sources[0], money.FromUint64(600)
			})
			tx.Data = sweepData(r, "sweep", common.Address{}, []common.Address{sources(r)[0], sources(r)[0]}, amounts(300, 300))
		}, signer.Amount},
		{"wish takes nothing from an address", func(r *rig, tx *types.SetCodeTx, _ *chain.Paper) {
			r.change("t", func(k *send.Record) {
				c := &k.Transfer.Call
				c.Sources[1].Amount, c.Amount = money.Amount{}, money.FromUint64(300)
			})
			tx.Data = sweepData(r, "sweep", common.Address{}, sources(r), amounts(300, 0))
		}, signer.Amount},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			sweepWish(r, ether, "", evmBudget)
			tx, p := sweepTx(r, common.Address{}), chain.Paper{Keys: []chain.Key{hotKey(), depositKey(3)}}
			c.spoil(r, tx, &p)
			keys := p.Keys
			p = sweepPaper(r, tx)
			p.Keys = keys
			r.refused(p, c.want)
		})
	}
}
