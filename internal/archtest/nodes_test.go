package archtest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// fullNode is what only a program links that is a node itself: the machines, pools,
// miners and databases of chains, and how their nodes talk to one another. They belong to
// the module of local chains, which has a go.mod of its own.
var fullNode = []string{
	"github.com/ethereum/go-ethereum/beacon", "github.com/ethereum/go-ethereum/consensus/beacon", "github.com/ethereum/go-ethereum/consensus/clique",
	"github.com/ethereum/go-ethereum/consensus/ethash", "github.com/ethereum/go-ethereum/core/state", "github.com/ethereum/go-ethereum/core/txpool",
	"github.com/ethereum/go-ethereum/core/vm", "github.com/ethereum/go-ethereum/eth", "github.com/ethereum/go-ethereum/ethdb/leveldb",
	"github.com/ethereum/go-ethereum/ethdb/pebble", "github.com/ethereum/go-ethereum/internal/ethapi", "github.com/ethereum/go-ethereum/miner",
	"github.com/ethereum/go-ethereum/node", "github.com/ethereum/go-ethereum/p2p", "github.com/ethereum/go-ethereum/triedb/hashdb",
	"github.com/ethereum/go-ethereum/triedb/pathdb",
	"github.com/btcsuite/btcd/blockchain", "github.com/btcsuite/btcd/connmgr", "github.com/btcsuite/btcd/database", "github.com/btcsuite/btcd/mempool",
	"github.com/btcsuite/btcd/mining", "github.com/btcsuite/btcd/netsync", "github.com/btcsuite/btcd/peer",
	"ferry/devnet",
}

// nodesIn are those of some packages that belong to full nodes.
func nodesIn(packages []string) (found []string) {
	whole := []string{"github.com/ethereum/go-ethereum/core", "github.com/btcsuite/btcd"} // with packages below them that are none
	for _, p := range packages {
		if covers(strings.Join(fullNode, " "), p) || slices.Contains(whole, p) {
			found = append(found, p)
		}
	}
	return found
}

// Whoever runs the service runs no nodes: they would be many times its size, and every
// fault of theirs would be one of the program that has the keys.
func TestTheProgramLinksNoFullNode(t *testing.T) {
	t.Parallel()
	for _, p := range nodesIn(linked(t)) {
		t.Errorf("the program links %s, which belongs to a full node; use it in devnet", p)
	}
}

// The plan lets rooms of the simulation use helpers; what the program links of it may not.
func TestTheProgramLinksNothingForTests(t *testing.T) {
	t.Parallel()
	for _, p := range linked(t) {
		if room, ours := roomOf(p); p == "testing" || ours && named(helpers+" "+chance, room) {
			t.Errorf("the program links %s, which is for tests", p)
		}
	}
}

// linked are all packages of the program.
func linked(t *testing.T) []string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "ferry/cmd/ferry").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(text))
	if !slices.Contains(all, "ferry/internal/family/evm") || len(all) < 100 {
		t.Fatalf("%d packages are no list of all", len(all))
	}
	return all
}

func TestFullNodesAreKnown(t *testing.T) {
	t.Parallel()
	nodes := []string{
		"github.com/ethereum/go-ethereum/core", "github.com/ethereum/go-ethereum/core/vm", "github.com/ethereum/go-ethereum/core/state/snapshot",
		"github.com/ethereum/go-ethereum/eth/tracers", "github.com/ethereum/go-ethereum/node", "github.com/ethereum/go-ethereum/miner",
		"github.com/btcsuite/btcd", "github.com/btcsuite/btcd/blockchain/indexers", "github.com/btcsuite/btcd/mempool", "github.com/btcsuite/btcd/mining", "ferry/devnet/evm",
	}
	others := []string{
		"github.com/ethereum/go-ethereum/core/types", "github.com/ethereum/go-ethereum/trie", "github.com/ethereum/go-ethereum/ethdb/memorydb",
		"github.com/btcsuite/btcd/btcutil/v2", "github.com/btcsuite/btcd/txscript/v2", "ferry/internal/devnet",
	}
	if got := nodesIn(append(slices.Clone(nodes), others...)); !slices.Equal(got, nodes) {
		t.Errorf("found %v", got)
	}
}
