package solana

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sol "github.com/gagliardetto/solana-go"

	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// Token is a listed one.
type Token struct {
	Mint     string
	Decimals int
	// Program is the token program of the mint; empty is the first one. A mint of the
	// second may have extensions.
	Program string
	// Extensions are those that the mint may have; none are allowed by themselves.
	Extensions []string
}

// extensions are what a mint of the second token program can be given, by its number.
var extensions = map[uint16]string{
	1: "transfer_fee", 3: "mint_close_authority", 4: "confidential_transfer", 6: "default_account_state", 9: "non_transferable",
	10: "interest_bearing", 12: "permanent_delegate", 14: "transfer_hook", 16: "confidential_transfer_fee", 18: "metadata_pointer",
	19: "token_metadata", 20: "group_pointer", 21: "token_group", 22: "group_member_pointer", 23: "group_member",
	24: "confidential_mint_burn", 25: "scaled_ui_amount", 26: "pausable",
}

// listing is a listed mint with what was found of it.
type listing struct {
	Token
	mint, program sol.PublicKey
	known         bool  // the nodes have been asked
	refused       error // why it is not dealt in
}

// account is where an owner has units of the mint.
func (l listing) account(owner sol.PublicKey) (sol.PublicKey, error) {
	key, _, err := sol.FindAssociatedTokenAddressWithProgram(owner, l.mint, l.program)
	return key, err
}

// size is how many bytes an account of the mint takes. The second program writes down
// that such an account never changes its owner.
func (l listing) size() uint64 {
	if l.program == sol.Token2022ProgramID {
		return tokenAccountSize + 5
	}
	return tokenAccountSize
}

const (
	tokenAccountSize = 165
	mintSize         = 82
)

func list(cfg Config) (map[sol.PublicKey]*listing, error) {
	out := map[sol.PublicKey]*listing{}
	for _, t := range cfg.Tokens {
		l := &listing{Token: t, program: sol.TokenProgramID}
		var err error
		if l.mint, err = sol.PublicKeyFromBase58(t.Mint); err != nil {
			return nil, fmt.Errorf("%s: token %.64q: its mint is no address", cfg.ID, t.Mint)
		}
		if t.Program != "" {
			if l.program, err = sol.PublicKeyFromBase58(t.Program); err != nil || (l.program != sol.TokenProgramID && l.program != sol.Token2022ProgramID) {
				return nil, fmt.Errorf("%s: token %s: %.64q is no token program", cfg.ID, t.Mint, t.Program)
			}
		}
		for _, name := range t.Extensions {
			if !slices.Contains(slices.Collect(maps.Values(extensions)), name) {
				return nil, fmt.Errorf("%s: token %s: no extension is called %.64q", cfg.ID, t.Mint, name)
			}
		}
		if _, twice := out[l.mint]; twice || t.Decimals < 0 || t.Decimals > maxDecimals {
			return nil, fmt.Errorf("%s: token %s is listed twice, or its decimals can not be", cfg.ID, t.Mint)
		}
		out[l.mint] = l
	}
	return out, nil
}

// nature is what a mint is.
type nature struct {
	program    sol.PublicKey
	decimals   int
	extensions string // their names, sorted
}

// Check reads every listed mint and is an error if one is not what it is listed as.
// Such a mint is not dealt in until the process starts anew.
func (c *Chain) Check(ctx context.Context) error {
	all, err := c.judged(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range all {
		if l.refused != nil {
			errs = append(errs, l.refused)
		}
	}
	return errors.Join(errs...)
}

// judged are the listed mints, each looked at once. It is an error while enough nodes
// cannot be asked: then nothing is known of what a block pays.
func (c *Chain) judged(ctx context.Context) (map[sol.PublicKey]listing, error) {
	out := map[sol.PublicKey]listing{}
	for key, l := range c.mints {
		c.mu.Lock()
		now := *l
		c.mu.Unlock()
		if !now.known {
			n, err := c.nature(ctx, now.mint)
			if err != nil {
				return nil, fmt.Errorf("mint %s: %w", now.Mint, err)
			}
			now.known, now.refused = true, now.judge(n)
			c.mu.Lock()
			*l = now
			c.mu.Unlock()
		}
		out[key] = now
	}
	return out, nil
}

func (l listing) judge(n nature) error {
	switch {
	case n.program == sol.PublicKey{}:
		return fmt.Errorf("token %s: there is no such mint", l.Mint)
	case n.program != l.program:
		return fmt.Errorf("token %s: its token program is %s, and it is listed under %s", l.Mint, n.program, l.program)
	case n.decimals != l.Decimals:
		return fmt.Errorf("token %s: it has %d decimals, and is listed with %d", l.Mint, n.decimals, l.Decimals)
	}
	for name := range strings.FieldsSeq(n.extensions) {
		if !slices.Contains(l.Extensions, name) {
			return fmt.Errorf("token %s: its mint has the extension %s, which is not allowed to it", l.Mint, name)
		}
	}
	return nil
}

// wireAccount is an account as a node tells it; nil is none.
type wireAccount struct {
	Lamports uint64   `json:"lamports"`
	Owner    string   `json:"owner"`
	Data     []string `json:"data"`
}

// accountOf asks one node for an account.
func accountOf(ctx context.Context, n *rpc.Node, key sol.PublicKey, commitment string) (*wireAccount, []byte, error) {
	var w struct {
		Value *wireAccount `json:"value"`
	}
	if err := typed(n.Call(ctx, &w, "getAccountInfo", key.String(), options{"encoding": "base64", "commitment": commitment})); err != nil {
		return nil, nil, err
	}
	if w.Value == nil {
		return nil, nil, nil
	}
	if len(w.Value.Data) != 2 || w.Value.Data[1] != "base64" {
		return nil, nil, fmt.Errorf("%w: an account", errTorn)
	}
	data, err := base64.StdEncoding.DecodeString(w.Value.Data[0])
	if err != nil {
		return nil, nil, fmt.Errorf("%w: an account", errTorn)
	}
	return w.Value, data, nil
}

func (c *Chain) nature(ctx context.Context, mint sol.PublicKey) (nature, error) {
	return quorum.Same(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (nature, error) {
		w, data, err := accountOf(ctx, n, mint, finalized)
		if err != nil || w == nil {
			return nature{}, err
		}
		owner, err := sol.PublicKeyFromBase58(w.Owner)
		if err != nil {
			return nature{}, fmt.Errorf("%w: an account", errTorn)
		}
		return readMint(owner, data)
	}))
}

// Where things stand in a mint's bytes. Extensions follow behind as many bytes as an
// account of a token has, and a byte that says what it is.
const (
	decimalsAt    = 44
	initializedAt = 45
	kindAt        = tokenAccountSize
	kindMint      = 1
)

// readMint reads a mint. One that is none has no nature, which no listing has.
func readMint(program sol.PublicKey, data []byte) (nature, error) {
	n := nature{program: program}
	if len(data) < mintSize || data[initializedAt] != 1 || (program != sol.TokenProgramID && program != sol.Token2022ProgramID) {
		return nature{}, nil
	}
	n.decimals = int(data[decimalsAt])
	if len(data) == mintSize {
		return n, nil
	}
	if program != sol.Token2022ProgramID || len(data) <= kindAt || data[kindAt] != kindMint {
		return nature{}, nil
	}
	var names []string
	for rest := data[kindAt+1:]; len(rest) >= 4; {
		kind, size := binary.LittleEndian.Uint16(rest), int(binary.LittleEndian.Uint16(rest[2:]))
		if kind == 0 { // what is behind is not used
			break
		}
		if len(rest) < 4+size {
			return nature{}, nil
		}
		name, ok := extensions[kind]
		if !ok {
			name = fmt.Sprintf("number_%d", kind)
		}
		names, rest = append(names, name), rest[4+size:]
	}
	slices.Sort(names)
	n.extensions = strings.Join(names, " ")
	return n, nil
}
