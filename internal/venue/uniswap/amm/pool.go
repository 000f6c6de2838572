package amm

import (
	"math"
	"slices"

	"github.com/holiman/uint256"
)

// Net is how much liquidity comes in at a tick on the way up: a signed number of 128 bits.
type Net struct {
	High int64
	Low  uint64
}

// Tick is a tick at which some liquidity begins or ends. It is a stop of every swap that
// passes, even where as much ends as begins.
type Tick struct {
	At    int32
	Net   Net
	Gross uint256.Int // all that begins or ends here; the tick is gone when nothing does
	Root  uint256.Int // of the price there
}

// Pool is a pool of version 3 at one moment. Its ticks are sorted, and its liquidity is
// what is in use at its price.
type Pool struct {
	Root      uint256.Int
	Liquidity uint256.Int
	Tick      int32
	Spacing   int32
	Fee       uint32 // in millionths
	Ticks     []Tick
}

// Trade is what a swap takes and gives.
type Trade struct {
	In, Out uint256.Int
	Root    uint256.Int // of the price afterwards
	Crossed int         // ticks at which liquidity changed
	Steps   int         // steps of the contract's loop, which cost gas
	// Short: the pool ran dry before all of what was asked for was done.
	Short bool
}

// Out is what the pool gives for an amount; down is when the first token is paid in, by
// which the price falls.
func (p *Pool) Out(in *uint256.Int, down bool) (Trade, error) { return p.swap(in, down, true, nil) }

// In is what the pool takes to give an amount.
func (p *Pool) In(out *uint256.Int, down bool) (Trade, error) { return p.swap(out, down, false, nil) }

// To is a swap that also ends where the price comes to a limit.
func (p *Pool) To(amount *uint256.Int, down, exactIn bool, limit *uint256.Int) (Trade, error) {
	return p.swap(amount, down, exactIn, limit)
}

// swap is the loop of the contract. It walks words of its map of ticks as that does,
// since the end of a word is the end of a step, and every step rounds.
func (p *Pool) swap(amount *uint256.Int, down, exactIn bool, limit *uint256.Int) (t Trade, err error) {
	left := *amount
	if err := p.check(&left); err != nil {
		return t, err
	}
	if limit == nil {
		if limit = &highest; down {
			limit = &lowest
		}
	}
	if down && (!limit.Lt(&p.Root) || !limit.Gt(&MinRoot)) || !down && (!limit.Gt(&p.Root) || !limit.Lt(&MaxRoot)) {
		return t, ErrPrice
	}
	t.Root = p.Root
	liquidity, tick := p.Liquidity, p.Tick
	at := p.first(tick, down)
	var m made
	var target, bound uint256.Int
	s := step{root: &t.Root, target: &bound, liquidity: &liquidity, left: &left, fee: uint64(p.Fee), down: down, exactIn: exactIn}
	for !left.IsZero() && t.Root != *limit {
		next, live := p.next(tick, at, down)
		if live {
			target = p.Ticks[at].Root
		} else {
			rootAt(&target, next)
		}
		bound = target
		if down == bound.Lt(limit) && bound != *limit {
			bound = *limit
		}
		if err := s.take(&m); err != nil {
			return t, err
		}
		t.Steps++
		if err := t.book(&m, &left, exactIn); err != nil {
			return t, err
		}
		t.Root = m.next
		if t.Root != target { // the amount or the limit was met
			if left.IsZero() || t.Root == *limit {
				break
			}
			if tick, err = TickAt(&t.Root); err != nil {
				return t, err
			}
			at = p.first(tick, down)
			continue
		}
		tick = next
		if live {
			if err := cross(&liquidity, p.Ticks[at].Net, down); err != nil {
				return t, err
			}
			t.Crossed++
		}
		if down {
			tick--
			if live {
				at--
			}
		} else if live {
			at++
		}
	}
	t.Short = !left.IsZero()
	if t.In.IsZero() && t.Out.IsZero() {
		return t, ErrDry
	}
	return t, nil
}

func (p *Pool) check(amount *uint256.Int) error {
	switch {
	case amount.IsZero():
		return ErrNothing
	case amount.Sign() < 0: // the contract counts in signed numbers
		return ErrOverflow
	case p.Root.IsZero():
		return ErrBorn
	}
	return nil
}

// book adds a step to the trade, and takes it from what is left.
func (t *Trade) book(m *made, left *uint256.Int, exactIn bool) error {
	if _, over := m.in.AddOverflow(&m.in, &m.fee); over || m.in.Sign() < 0 || m.out.Sign() < 0 {
		return ErrOverflow
	}
	_, over := t.In.AddOverflow(&t.In, &m.in)
	_, more := t.Out.AddOverflow(&t.Out, &m.out)
	if over || more || t.In.Sign() < 0 || t.Out.Sign() < 0 {
		return ErrOverflow
	}
	if exactIn {
		left.Sub(left, &m.in)
	} else {
		left.Sub(left, &m.out)
	}
	return nil
}

// first is the place of the first tick on the way: at or below the price on the way
// down, above it on the way up.
func (p *Pool) first(tick int32, down bool) int {
	low, high := 0, len(p.Ticks)
	for low < high {
		if mid := (low + high) / 2; p.Ticks[mid].At <= tick {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if down {
		return low - 1
	}
	return low
}

// next is where the next step ends: the next tick on the way if it is in the same word of
// the contract's map, and else the end of that word; live says which.
func (p *Pool) next(tick int32, at int, down bool) (next int32, live bool) {
	place := tick / p.Spacing
	if tick%p.Spacing < 0 {
		place--
	}
	if down {
		next = place &^ 255 * p.Spacing
		if at >= 0 && p.Ticks[at].At >= next {
			return p.Ticks[at].At, true
		}
		return max(next, MinTick), false
	}
	next = ((place + 1) | 255) * p.Spacing
	if at < len(p.Ticks) && p.Ticks[at].At <= next {
		return p.Ticks[at].At, true
	}
	return min(next, MaxTick), false
}

// cross changes the liquidity at a tick.
func cross(liquidity *uint256.Int, n Net, down bool) error {
	var d uint256.Int
	neg := n.High < 0
	d[0], d[1] = n.Low, uint64(n.High) //nolint:gosec // the bits are meant
	if neg {
		d[2], d[3] = math.MaxUint64, math.MaxUint64
		d.Neg(&d)
	}
	if neg != down {
		if d.Gt(liquidity) {
			return ErrDry
		}
		liquidity.Sub(liquidity, &d)
		return nil
	}
	if liquidity.Add(liquidity, &d); !fits128(liquidity) {
		return ErrOverflow
	}
	return nil
}

// Add changes the liquidity between two ticks, as Mint (and with less, as Burn) does.
func (p *Pool) Add(low, high int32, amount *uint256.Int, less bool) error {
	if low >= high || low < MinTick || high > MaxTick || !fits128(amount) {
		return ErrPrice
	}
	if amount.IsZero() {
		return nil // a poke: the contract only counts fees
	}
	for _, end := range [2]struct {
		at   int32
		ends bool
	}{{low, false}, {high, true}} {
		if err := p.bump(end.at, amount, less, end.ends != less); err != nil {
			return err
		}
	}
	if p.Tick < low || p.Tick >= high {
		return nil
	}
	if less {
		if amount.Gt(&p.Liquidity) {
			return ErrDry
		}
		p.Liquidity.Sub(&p.Liquidity, amount)
		return nil
	}
	if p.Liquidity.Add(&p.Liquidity, amount); !fits128(&p.Liquidity) {
		return ErrOverflow
	}
	return nil
}

// bump adds to what begins or ends at a tick.
func (p *Pool) bump(at int32, amount *uint256.Int, less, fall bool) error {
	i, found := slices.BinarySearchFunc(p.Ticks, at, func(t Tick, at int32) int { return int(t.At) - int(at) })
	if !found {
		if less {
			return ErrDry
		}
		t := Tick{At: at}
		rootAt(&t.Root, at)
		p.Ticks = slices.Insert(p.Ticks, i, t)
	}
	t := &p.Ticks[i]
	if less {
		if amount.Gt(&t.Gross) {
			return ErrDry
		}
		t.Gross.Sub(&t.Gross, amount)
	} else if t.Gross.Add(&t.Gross, amount); !fits128(&t.Gross) {
		return ErrOverflow
	}
	t.Net.add(amount, fall)
	if t.Gross.IsZero() {
		p.Ticks = slices.Delete(p.Ticks, i, i+1)
	}
	return nil
}

func (n *Net) add(amount *uint256.Int, less bool) {
	var d uint256.Int
	d[0], d[1] = n.Low, uint64(n.High) //nolint:gosec // the bits are meant
	if less {
		d.Sub(&d, amount)
	} else {
		d.Add(&d, amount)
	}
	n.Low, n.High = d[0], int64(d[1]) //nolint:gosec // the bits are meant
}
