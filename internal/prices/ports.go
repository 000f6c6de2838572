package prices

import (
	"context"
	"time"
)

// Source says what it thinks whole units are worth. An error means that nothing is
// known; a symbol that it does not know is simply not there.
type Source interface {
	Name() string
	Prices(ctx context.Context, now time.Time) (map[string]Quote, error)
}

// Quote is one source's word on one symbol: dollars as decimal text, as the source
// wrote them, and when that was so.
type Quote struct {
	Price string
	At    time.Time
}
