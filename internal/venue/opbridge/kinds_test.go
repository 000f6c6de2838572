package opbridge_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/venue/opbridge"
)

// believing is a chain whose portal believes games of one kind.
type believing struct {
	opbridge.Above
	kind byte
	more byte // of the next higher byte
}

func (believing) Head(context.Context) (chain.Head, error) { return chain.Head{}, nil }

func (b believing) ViewAt(context.Context, chain.Address, []byte, chain.Block) ([]byte, error) {
	return append(make([]byte, 30), b.more, b.kind), nil
}

// A rollup that tells its state in games of another kind is found at start: nothing that
// is made here would prove a withdrawal.
func TestGamesOfAnUnknownKindAreFoundAtStart(t *testing.T) {
	t.Parallel()
	at := func(n byte) chain.Address { return canon(common.Address{n}) }
	for _, c := range []struct {
		on    believing
		games bool
		want  error
	}{
		{believing{kind: 0}, true, nil},
		{believing{kind: 1}, true, nil},
		{believing{kind: 8}, true, nil},
		{believing{kind: 4}, true, opbridge.ErrGames},
		{believing{kind: 5}, true, opbridge.ErrGames},
		{believing{kind: 6}, true, opbridge.ErrGames},
		{believing{kind: 9}, true, opbridge.ErrGames},
		{believing{kind: 0x6d, more: 2}, true, opbridge.ErrGames}, // 621, which is Base's own
		{believing{kind: 9}, false, nil},                          // an oracle has no games
	} {
		cfg := opbridge.Config{Below: belowID, Above: aboveID, Portal: at(1), Messenger: at(2), Bridge: at(3)}
		if cfg.Oracle = at(4); c.games {
			cfg.Oracle, cfg.Games = chain.Address{}, at(4)
		}
		b, err := opbridge.New(cfg, c.on, c.on)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.CheckGames(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("kind %d: got %v, want %v", int(c.on.more)<<8+int(c.on.kind), err, c.want)
		}
	}
}
