package solana

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	sol "github.com/gagliardetto/solana-go"
	fastjson "github.com/go-json-experiment/json"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/watch"
)

// wireBlock is a block with the accounts of its transactions.
type wireBlock struct {
	wireHeader   `json:",inline"`
	Transactions []wireTx `json:"transactions"`
}

// UnmarshalJSON reads a block in one pass, since most of what is downloaded is blocks. A
// name that is there twice, or in another case, makes it no block.
func (w *wireBlock) UnmarshalJSON(text []byte) error {
	type plain wireBlock
	return fastjson.Unmarshal(text, (*plain)(w))
}

type wireTx struct {
	Transaction struct {
		AccountKeys []struct {
			Pubkey string `json:"pubkey"`
			Signer bool   `json:"signer"`
		} `json:"accountKeys"`
		Signatures []string `json:"signatures"`
	} `json:"transaction"`
	Meta *wireMeta `json:"meta"`
}

type wireMeta struct {
	Err               json.RawMessage `json:"err"`
	PreBalances       []uint64        `json:"preBalances"`
	PostBalances      []uint64        `json:"postBalances"`
	PreTokenBalances  []wireToken     `json:"preTokenBalances"`
	PostTokenBalances []wireToken     `json:"postTokenBalances"`
}

type wireToken struct {
	AccountIndex int    `json:"accountIndex"`
	Mint         string `json:"mint"`
	Owner        string `json:"owner"`
	ProgramID    string `json:"programId"`
	Amount       struct {
		Units string `json:"amount"`
	} `json:"uiTokenAmount"`
}

func (m *wireMeta) failed() bool { return len(m.Err) > 0 && string(m.Err) != "null" }

// Deposits are the payments in a block to addresses of ours, as enough nodes show them.
func (c *Chain) Deposits(ctx context.Context, b chain.Block, to watch.Addresses) ([]chain.Deposit, error) {
	mints, err := c.judged(ctx)
	if err != nil {
		return nil, err
	}
	rent, err := c.rent(ctx, 0)
	if err != nil {
		return nil, err
	}
	g := gleaner{id: c.cfg.ID, block: b, to: to, mints: mints, rent: rent, ours: c.ours}
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (gleaned, error) {
		var w wireBlock
		if err := typed(n.Call(ctx, &w, "getBlock", b.Height, options{
			"commitment": confirmed, "encoding": "json", "transactionDetails": "accounts", "rewards": false, "maxSupportedTransactionVersion": newestVersion,
		})); err != nil {
			return gleaned{}, err
		}
		return g.glean(w)
	})
	best, err := quorum.Agree(c.pool.Rule(), answers, func(a, b gleaned) bool { return slices.Equal(a.found, b.found) })
	c.dispute(b, answers, best.found)
	if err != nil {
		return nil, fmt.Errorf("deposits in slot %d: %w", b.Height, err)
	}
	if sus, err := quorum.Agree(c.pool.Rule(), answers, func(a, b gleaned) bool { return slices.Equal(a.suspects, b.suspects) }); err == nil {
		c.notice(sus.suspects...)
	}
	return best.found, nil
}

// dispute tells of payments that only some nodes show, and of blocks that none can read.
func (c *Chain) dispute(b chain.Block, answers []quorum.Answer[gleaned], agreed []chain.Deposit) {
	for _, a := range answers {
		if errors.Is(a.Err, errVersion) {
			c.notice(Suspect{Reason: UnknownVersion, Block: b})
			return
		}
	}
	told := map[chain.DepositID]bool{}
	for _, a := range answers {
		for _, d := range a.Value.found {
			if !slices.Contains(agreed, d) && !told[d.ID] {
				told[d.ID] = true
				c.notice(Suspect{Disputed, d.Tx, d.To, d.Asset, d.Amount, b})
			}
		}
	}
}

// gleaned is what one node shows of a block, each list in one order.
type gleaned struct {
	found    []chain.Deposit
	suspects []Suspect
}

// gleaner looks through a block for payments to us.
type gleaner struct {
	id    chain.ID
	block chain.Block
	to    watch.Addresses
	mints map[sol.PublicKey]listing
	rent  uint64          // the least that an account can have
	ours  map[string]bool // accounts whose own transactions are no news
}

// glean is an error where a node contradicts itself or leaves something out: then it
// said nothing.
func (g gleaner) glean(w wireBlock) (gleaned, error) {
	var out gleaned
	if w.Blockhash != g.block.Hash {
		return out, fmt.Errorf("%w: another block stands in slot %d", errMissing, g.block.Height)
	}
	if w.Transactions == nil {
		return out, fmt.Errorf("%w: slot %d without its transactions", errMissing, g.block.Height)
	}
	for i := range w.Transactions {
		if err := g.tx(&w.Transactions[i], &out); err != nil {
			return gleaned{}, fmt.Errorf("transaction %d of slot %d: %w", i, g.block.Height, err)
		}
	}
	slices.SortFunc(out.found, func(a, b chain.Deposit) int { return cmp.Compare(a.ID, b.ID) })
	out.found = slices.Compact(out.found) // a node that says it twice says it once
	for i := range len(out.found) - 1 {
		if out.found[i].ID == out.found[i+1].ID {
			return gleaned{}, fmt.Errorf("deposit %s is there twice, and differs", out.found[i].ID)
		}
	}
	slices.SortFunc(out.suspects, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(a.Tx, b.Tx), cmp.Compare(a.To.Text(), b.To.Text()), cmp.Compare(a.Asset.Ref, b.Asset.Ref), cmp.Compare(a.Reason, b.Reason), a.Amount.Cmp(b.Amount))
	})
	out.suspects = slices.Compact(out.suspects)
	return out, nil
}

var errTorn = errors.New("solana: it is not told whole")

func (g gleaner) tx(w *wireTx, out *gleaned) error {
	m, keys := w.Meta, w.Transaction.AccountKeys
	if m == nil || len(w.Transaction.Signatures) == 0 || w.Transaction.Signatures[0] == "" ||
		len(m.PreBalances) != len(keys) || len(m.PostBalances) != len(keys) {
		return errTorn
	}
	seen := len(out.suspects)
	defer func() {
		// Who pays for a transaction has signed it: this one is ours.
		if len(keys) > 0 && g.ours[keys[0].Pubkey] {
			out.suspects = out.suspects[:seen]
		}
	}()
	for i := range keys {
		if a := chain.CanonicalAddress(chain.Solana, keys[i].Pubkey); g.to.Has(a) {
			g.lamports(w, i, a, out)
		}
	}
	for i := range m.PostTokenBalances {
		t := &m.PostTokenBalances[i]
		if t.Owner == "" || t.Mint == "" || t.ProgramID == "" || t.AccountIndex < 0 || t.AccountIndex >= len(keys) {
			return fmt.Errorf("%w: a token balance", errTorn)
		}
		a := chain.CanonicalAddress(chain.Solana, t.Owner)
		if !g.to.Has(a) {
			continue
		}
		if err := g.units(w, t, a, out); err != nil {
			return err
		}
	}
	return g.home(w, out)
}

// lamports judges what a transaction did to one of our addresses itself.
func (g gleaner) lamports(w *wireTx, i int, a chain.Address, out *gleaned) {
	pre, post := w.Meta.PreBalances[i], w.Meta.PostBalances[i]
	d := g.deposit(w, a, a.Text(), g.id.Native())
	reason := Reason("")
	switch {
	case w.Meta.failed():
		reason = Failed
	case post < pre:
		reason, d.Amount = TookAway, money.FromUint64(pre-post)
	case post == pre:
		reason = MovedNothing
	case post < g.rent:
		reason, d.Amount = BelowRent, money.FromUint64(post-pre)
	default:
		d.Amount = money.FromUint64(post - pre)
	}
	g.put(d, reason, out)
}

// units judges what a transaction did to a token account that one of our addresses owns.
func (g gleaner) units(w *wireTx, t *wireToken, a chain.Address, out *gleaned) error {
	post, err := strconv.ParseUint(t.Amount.Units, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: an amount of a token", errTorn)
	}
	pre, before, err := earlier(w.Meta.PreTokenBalances, t)
	if err != nil {
		return err
	}
	account := w.Transaction.AccountKeys[t.AccountIndex].Pubkey
	d := g.deposit(w, a, account, chain.Asset{Chain: g.id, Ref: t.Mint})
	if post > pre {
		d.Amount = money.FromUint64(post - pre)
	}
	reason := g.mint(t, a, account)
	switch {
	case w.Meta.failed():
		reason = Failed
	case reason != "":
	case before != "" && before != t.Owner:
		reason = OwnerChanged
	case post < pre:
		reason, d.Amount = TookAway, money.FromUint64(pre-post)
	case post == pre:
		reason = MovedNothing
	}
	g.put(d, reason, out)
	return nil
}

// earlier is what a token account had before, and whose it was; nothing and nobody's if
// it was made in the transaction.
func earlier(all []wireToken, t *wireToken) (units uint64, owner string, err error) {
	for i := range all {
		p := &all[i]
		if p.AccountIndex != t.AccountIndex {
			continue
		}
		if p.Mint != t.Mint || p.Owner == "" {
			return 0, "", fmt.Errorf("%w: a token account with two mints", errTorn)
		}
		units, err = strconv.ParseUint(p.Amount.Units, 10, 64)
		if err != nil {
			return 0, "", fmt.Errorf("%w: an amount of a token", errTorn)
		}
		return units, p.Owner, nil
	}
	return 0, "", nil
}

// mint judges what a token is and where it lies; empty is good.
func (g gleaner) mint(t *wireToken, a chain.Address, account string) Reason {
	mint, err := sol.PublicKeyFromBase58(t.Mint)
	l, listed := g.mints[mint]
	switch {
	case err == nil && mint == sol.WrappedSol && !listed:
		return WrappedSOL
	case err != nil || !listed:
		return ForeignMint
	case l.refused != nil:
		return RefusedMint
	case t.ProgramID != l.program.String():
		return WrongProgram
	}
	owner, err := pubkey(a)
	if err != nil {
		return OtherAccount
	}
	if home, err := l.account(owner); err != nil || home.String() != account {
		return OtherAccount
	}
	return ""
}

func (g gleaner) deposit(w *wireTx, to chain.Address, account string, a chain.Asset) chain.Deposit {
	tx := w.Transaction.Signatures[0]
	return chain.Deposit{
		ID: chain.DepositID(string(g.id) + ":" + tx + ":" + account), To: to, Asset: a, Tx: chain.TxID(tx), Block: g.block,
	}
}

func (g gleaner) put(d chain.Deposit, r Reason, out *gleaned) {
	if r == "" {
		out.found = append(out.found, d)
		return
	}
	out.suspects = append(out.suspects, Suspect{r, d.Tx, d.To, d.Asset, d.Amount, d.Block})
}
