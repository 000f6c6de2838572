package amm

import "github.com/holiman/uint256"

// Pair is a pair of version 2 at one moment. Keep of Of is what of a payment counts for
// the price: 997 of 1000 for Uniswap's own.
type Pair struct {
	Zero, One uint256.Int
	Keep, Of  uint64
}

// sides are the reserves of what is paid in and of what is paid out.
func (p *Pair) sides(down bool) (in, out *uint256.Int) {
	if down {
		return &p.Zero, &p.One
	}
	return &p.One, &p.Zero
}

// Quote is what the library of the routers answers for a payment, whether or not the
// pair could take it.
func (p *Pair) Quote(in *uint256.Int, down bool) (out uint256.Int, err error) {
	from, to := p.sides(down)
	switch {
	case in.IsZero():
		return out, ErrNothing
	case from.IsZero() || to.IsZero():
		return out, ErrDry
	}
	var net, top, bottom uint256.Int
	keep, of := uint256.Int{p.Keep}, uint256.Int{p.Of}
	if _, over := net.MulOverflow(in, &keep); over {
		return out, ErrOverflow
	}
	if _, over := top.MulOverflow(&net, to); over {
		return out, ErrOverflow
	}
	if _, over := bottom.MulOverflow(from, &of); over {
		return out, ErrOverflow
	}
	if _, over := bottom.AddOverflow(&bottom, &net); over {
		return out, ErrOverflow
	}
	out.Div(&top, &bottom)
	return out, nil
}

// QuoteIn is what the library answers for what would have to be paid to get an amount.
func (p *Pair) QuoteIn(out *uint256.Int, down bool) (in uint256.Int, err error) {
	from, to := p.sides(down)
	switch {
	case out.IsZero():
		return in, ErrNothing
	case from.IsZero() || to.IsZero() || !out.Lt(to):
		return in, ErrDry
	}
	var top, bottom uint256.Int
	keep, of := uint256.Int{p.Keep}, uint256.Int{p.Of}
	if _, over := top.MulOverflow(from, out); over {
		return in, ErrOverflow
	}
	if _, over := top.MulOverflow(&top, &of); over {
		return in, ErrOverflow
	}
	bottom.Sub(to, out)
	if _, over := bottom.MulOverflow(&bottom, &keep); over {
		return in, ErrOverflow
	}
	in.Div(&top, &bottom)
	if _, over := in.AddOverflow(&in, one); over {
		return in, ErrOverflow
	}
	return in, nil
}

// Out is what the pair gives for a payment, if it can take it: reserves have 112 bits,
// and a swap that gives nothing is refused.
func (p *Pair) Out(in *uint256.Int, down bool) (Trade, error) {
	out, err := p.Quote(in, down)
	if err == nil && out.IsZero() {
		err = ErrDry
	}
	if err != nil {
		return Trade{}, err
	}
	return Trade{In: *in, Out: out, Steps: 1}, p.room(in, down)
}

// In is what has to be paid to get an amount.
func (p *Pair) In(out *uint256.Int, down bool) (Trade, error) {
	in, err := p.QuoteIn(out, down)
	if err != nil {
		return Trade{}, err
	}
	return Trade{In: in, Out: *out, Steps: 1}, p.room(&in, down)
}

func (p *Pair) room(in *uint256.Int, down bool) error {
	from, _ := p.sides(down)
	var sum uint256.Int
	if _, over := sum.AddOverflow(from, in); over || sum.BitLen() > 112 {
		return ErrOverflow
	}
	return nil
}
