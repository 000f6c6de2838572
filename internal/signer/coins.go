package signer

// coinValue is what a paper says about one coin. A signature of segregated witness
// covers the value of its own input only: with two papers that lie about different
// inputs, valid signatures could be put together into a transaction with a huge fee.
// So what was once said about a coin must be said again.
type coinValue struct {
	coin  string
	value int64
}

// maxCoins bounds the memory; the oldest half is forgotten then.
const maxCoins = 100_000

// coinValues remembers in two halves, so that forgetting costs nothing.
type coinValues struct{ young, old map[string]int64 }

func (c *coinValues) agree(coins []coinValue) error {
	for _, x := range coins {
		was, known := c.young[x.coin]
		if !known {
			was, known = c.old[x.coin]
		}
		if known && was != x.value {
			return refuse(Coin, "the coin %s was worth %d before and is said to be worth %d", x.coin, was, x.value)
		}
	}
	return nil
}

func (c *coinValues) keep(coins []coinValue) {
	if c.young == nil || len(c.young)+len(coins) > maxCoins/2 {
		c.young, c.old = make(map[string]int64), c.young
	}
	for _, x := range coins {
		c.young[x.coin] = x.value
	}
}
