package prices

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// gather asks for one symbol after another, a few at once, where one answer tells only
// one of them. What one of them did not tell is left out.
func gather[T any](ctx context.Context, of map[string]T, ask func(ctx context.Context, which T) (Quote, error)) (map[string]Quote, error) {
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		quotes = make(map[string]Quote, len(of))
		errs   []error
		turn   = make(chan struct{}, maxIdle)
	)
	for symbol, which := range of {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			q, err := ask(ctx, which)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", symbol, err))
				return
			}
			quotes[symbol] = q
		})
	}
	wg.Wait()
	if len(quotes) == 0 { // nothing is known, which is not that it knows nothing
		quotes = nil
	}
	return quotes, errors.Join(errs...)
}
