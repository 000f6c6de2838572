package familytest

import (
	"errors"

	"ferry/internal/chain"
	"ferry/internal/watch"
)

var readCases = []kase{
	{"The head is a tip with a final block at the depth below it", always, headHasDepth},
	{"Next walks from the first block to the tip and then says there is none yet", always, nextWalks},
	{"Next steps over heights that were left out", func(p Powers) bool { return p.Gaps }, nextSkips},
	{"The final block never moves back while the tip is reorganised", forks, finalStays},
	{"A payment is found once and under the same name in every scan", always, foundOnce},
	{"A payment that is reorganised away is not found", forks, reorgedAway},
	{"A payment that is mined again keeps its name and gets its new block", forks, minedAgain},
	{"Orphaning what was final is possible and shows another block at that height", func(p Powers) bool { return p.DeepReorgs }, deepReorg},
}

func headHasDepth(h *hand) {
	h.Mine(3)
	head := h.head()
	blocks := h.branch()
	if tip := blocks[len(blocks)-1]; tip != head.Tip {
		h.Fatalf("the tip is %v, the last block %v", head.Tip, tip)
	}
	if want := blocks[len(blocks)-1-h.powers.FinalDepth]; head.Final != want {
		h.Fatalf("final is %v, want %v", head.Final, want)
	}
}

func nextWalks(h *hand) {
	h.Mine(4)
	blocks := h.branch()
	for i, b := range blocks[1:] {
		if b.Parent != blocks[i].Hash || b.Height <= blocks[i].Height || !b.Time.After(blocks[i].Time) {
			h.Fatalf("%v does not follow %v", b, blocks[i])
		}
	}
	tip := h.head().Tip
	_, err := h.ports.Reader.Next(h.ctx(), tip.Height+1)
	h.is(err, watch.ErrNoBlock)
	h.Mine(1)
	b, err := h.ports.Reader.Next(h.ctx(), tip.Height+1)
	h.ok(err)
	if b.Parent != tip.Hash {
		h.Fatalf("%v does not follow %v", b, tip)
	}
}

func nextSkips(h *hand) {
	before := h.head().Tip
	h.Skip(3)
	h.Mine(1)
	b, err := h.ports.Reader.Next(h.ctx(), before.Height+1)
	h.ok(err)
	if b.Height != before.Height+4 || b.Parent != before.Hash {
		h.Fatalf("after %v comes %v", before, b)
	}
}

func finalStays(h *hand) {
	h.Mine(2 * h.powers.FinalDepth)
	last := h.head().Final
	for depth := 1; depth <= h.powers.FinalDepth; depth++ {
		h.Reorg(depth, false)
		now := h.head().Final
		if now.Height < last.Height {
			h.Fatalf("final moved back from %v to %v", last, now)
		}
		b, err := h.ports.Reader.Next(h.ctx(), last.Height)
		h.ok(err)
		if b != last {
			h.Fatalf("%v was final, and now there is %v", last, b)
		}
		last = now
	}
}

func foundOnce(h *hand) {
	to := h.Address("deposit")
	tx := h.pay(to)
	h.Mine(1)
	first := h.one(to)
	if first.Tx != tx || first.To != to || first.Asset != h.native() || first.Amount != h.powers.Amount || first.Block != h.head().Tip {
		h.Fatalf("found %v", first)
	}
	h.settle()
	if again := h.one(to); again != first {
		h.Fatalf("found %v, and before %v", again, first)
	}
}

func reorgedAway(h *hand) {
	to := h.Address("deposit")
	h.pay(to)
	h.Mine(2)
	h.one(to)
	h.Reorg(2, true)
	h.none(to)
	h.settle()
	h.none(to)
}

func minedAgain(h *hand) {
	to := h.Address("deposit")
	h.pay(to)
	h.Mine(2)
	first := h.one(to)
	h.Reorg(2, false)
	h.none(to)
	h.Mine(1)
	again := h.one(to)
	if again.ID != first.ID || again.Block == first.Block || again.Block != h.head().Tip {
		h.Fatalf("found %v, and before %v", again, first)
	}
}

func deepReorg(h *hand) {
	to := h.Address("deposit")
	h.pay(to)
	h.Mine(1)
	h.settle()
	was := h.one(to).Block
	if h.head().Final != was {
		h.Fatalf("%v is not final", was)
	}
	h.Reorg(h.powers.FinalDepth+1, true)
	h.none(to)
	b, err := h.ports.Reader.Next(h.ctx(), was.Height)
	h.ok(err)
	if b.Hash == was.Hash {
		h.Fatal("the block is still there")
	}
	if _, err := h.ports.Reader.Deposits(h.ctx(), chain.Block{Height: 1, Hash: "nonsense"}, set{to}); err == nil || errors.Is(err, watch.ErrNoBlock) {
		h.Fatalf("a block that nobody knows gave %v", err)
	}
}
