package sim

import "ferry/internal/chain"

// Match picks transfers by their recipient and their asset; what is zero matches all.
type Match struct {
	To    chain.Address
	Asset chain.Asset
}

type reject struct {
	Match
	times int // how often it still strikes; below zero is for ever
}

// Reject makes transactions with a matching transfer fail on the chain, for ever:
// a recipient that takes nothing. Coins know no such thing.
func (n *Net) Reject(m Match) { n.addReject(m, -1) }

// RevertNext makes the next transaction with a matching transfer fail on the chain.
func (n *Net) RevertNext(m Match) { n.addReject(m, 1) }

// Accept undoes every Reject and RevertNext.
func (n *Net) Accept() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rejects = nil
}

func (n *Net) addReject(m Match, times int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rejects = append(n.rejects, &reject{m, times})
}

func (n *Net) rejected(b *body) bool {
	for _, r := range n.rejects {
		if r.times == 0 || !r.match(n.cfg.ID, b) {
			continue
		}
		if r.times > 0 {
			r.times--
		}
		return true
	}
	return false
}

func (r *reject) match(id chain.ID, b *body) bool {
	for _, o := range b.outs {
		if (r.To.IsZero() || r.To.Text() == o.to) && (r.Asset == chain.Asset{} || r.Asset == chain.Asset{Chain: id, Ref: o.asset}) {
			return true
		}
	}
	return false
}
