package config

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Nodes is how a chain of real nodes is asked and read.
type Nodes struct {
	// URLs may hold passwords: show them only redacted.
	URLs []string
	// Quorum is how many nodes must say the same before it is believed.
	Quorum int
	// Verify asks that a block proves what is in it by its own roots.
	Verify bool
	// Trace finds payments that contracts make; nodes must offer it.
	Trace bool
	// Sweeper is the contract that brings deposits home; empty where there is none.
	Sweeper string
	// Intake is the contract that takes payments for orders; empty where there is none.
	Intake string
	// GasOracle is the contract of a rollup that says what data costs beside the gas;
	// empty where nothing is taken for it.
	GasOracle string
	// Network is Bitcoin's: mainnet, testnet, signet or regtest.
	Network string
	// Genesis is the hash of the first block: of Solana, and of EVM where it is known.
	Genesis string
}

// firstBlock is the hash of a block of the family evm.
var firstBlock = regexp.MustCompile(`^0x[0-9a-f]{64}$`)

// readNodes reads what only a chain of real nodes has.
func readNodes(r *reader, t table, c Chain) Nodes {
	n := Nodes{
		Verify: r.flagOr(t, "verify", true), Trace: r.flag(t, "trace"), Sweeper: canonicalRef(r.or(t, "sweeper", "")), Intake: canonicalRef(r.or(t, "intake", "")), GasOracle: canonicalRef(r.or(t, "gasOracle", "")),
		Network: r.or(t, "network", ""), Genesis: r.or(t, "genesis", ""), Quorum: int(r.bounded(t, "quorum", 0, 1, 100)),
	}
	if c.Kind != RPC {
		for _, name := range []string{"nodes", "quorum", "verify", "trace", "sweeper", "intake", "gasOracle", "network", "genesis"} {
			if _, there := t.values[name]; there {
				r.refuse(t.key(name), "is for chains of real nodes; write kind = %q, or leave it out", RPC)
			}
		}
		return Nodes{}
	}
	urls, ok := r.texts(t, "nodes")
	if !ok || len(urls) == 0 {
		r.missing(t, "nodes", `write where its nodes answer, such as nodes = ["https://one.example", "https://two.example", "https://three.example"]`)
		if ok {
			r.refuse(t.key("nodes"), "is empty; a chain without nodes can not be read")
		}
	}
	for i, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			// The text may hold a password: it is not said back.
			r.refuse(fmt.Sprintf("%s[%d]", t.key("nodes"), i), "is not the address of a node; write such as \"https://host/path\"")
		}
	}
	n.URLs = urls
	if n.Quorum == 0 {
		n.Quorum = len(urls)/2 + 1
	}
	if n.Quorum > len(urls) && len(urls) > 0 {
		r.refuse(t.key("quorum"), "is %d of %d nodes; add nodes or write at most %d", n.Quorum, len(urls), len(urls))
	}
	if c.Family == chain.Bitcoin && n.Network == "" {
		n.Network = "mainnet"
	}
	if c.Family != chain.Bitcoin && n.Network != "" {
		r.refuse(t.key("network"), "is for chains of the family bitcoin; leave it out")
	}
	if c.Family == chain.Solana && n.Genesis == "" {
		r.missing(t, "genesis", "without the hash of its first block a node of another cluster would be believed")
	}
	if c.Family == chain.Bitcoin && n.Genesis != "" {
		r.refuse(t.key("genesis"), "is not for chains of the family bitcoin, whose network says it; leave it out")
	}
	if c.Family == chain.EVM && n.Genesis != "" && !firstBlock.MatchString(n.Genesis) {
		r.refuse(t.key("genesis"), "is not the hash of a block; write 0x and 64 small hexadecimal digits")
	}
	return n
}

// flagOr reads true or false where something else than false is usual.
func (r *reader) flagOr(t table, name string, usual bool) bool {
	b, ok := take[bool](r, t, name, "true or false")
	if !ok {
		return usual
	}
	return b
}

// Explorer is where people look at a chain.
type Explorer struct{ Tx, Address string }

func readExplorer(r *reader, t table) Explorer {
	e := Explorer{Tx: r.or(t, "explorerTx", ""), Address: r.or(t, "explorerAddress", "")}
	for name, v := range map[string]struct{ text, mark string }{"explorerTx": {e.Tx, "{tx}"}, "explorerAddress": {e.Address, "{address}"}} {
		if v.text != "" && (!strings.HasPrefix(v.text, "https://") && !strings.HasPrefix(v.text, "http://") || !strings.Contains(v.text, v.mark)) {
			r.refuse(t.key(name), "is not a page with the place of %s in it; write such as \"https://explorer.example/%s\"", v.mark, v.mark)
		}
	}
	return e
}

// Wallet is where the keys are.
type Wallet struct {
	// SeedFile is the encrypted seed, and PassphraseFile what opens it; without it
	// whoever starts the service is asked.
	SeedFile, PassphraseFile string
	// Socket is where a signer in a process of its own listens; it replaces the two.
	Socket string
	// FeeShare is how much of an amount of Bitcoin its fee may be, whatever else allows it.
	FeeShare money.Percent
}

func readWallet(r *reader, t table, chains []Chain) Wallet {
	w := Wallet{SeedFile: r.or(t, "seedFile", ""), PassphraseFile: r.or(t, "passphraseFile", ""), Socket: r.or(t, "signerSocket", "")}
	w.FeeShare = r.percent(t, "maxFeePercent", "5")
	if w.Socket != "" && (w.SeedFile != "" || w.PassphraseFile != "") {
		r.refuse(t.key("signerSocket"), "and a seed are both given; the seed belongs to the signer's own process alone")
	}
	for _, c := range chains {
		if c.Kind == RPC && w.SeedFile == "" && w.Socket == "" {
			r.refuse("wallet.seedFile", "is missing; chain %s pays with real money: make a seed with ferry wallet init, and write where it is", c.ID)
			break
		}
	}
	return w
}
