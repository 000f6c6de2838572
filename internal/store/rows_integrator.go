package store

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/office"
)

// integratorRow is what an operator set for an integrator.
type integratorRow struct {
	V            int                   `json:"v"`
	Limits       [4]int64              `json:"limits"` // in the order of the domain's fields
	Window       int64                 `json:"window"` // nanoseconds
	Days         int                   `json:"days"`
	Fee          int32                 `json:"fee,omitzero"`
	PayTo        map[string]addressRow `json:"pay_to,omitempty"`
	Forwards     bool                  `json:"forwards,omitzero"`
	Egress       []string              `json:"egress,omitempty"`
	ClientLimits [3]int64              `json:"client_limits"`
	NoPoints     bool                  `json:"no_points,omitzero"`
}

func integratorToRow(i integrator.Integrator) integratorRow {
	l, c := i.Limits, i.Forwarding.Limits
	r := integratorRow{
		V: docVersion, Limits: [4]int64{l.Requests, l.Quotes, l.Creates, l.OpenOrders}, Window: int64(i.Window), Days: i.AttributionDays,
		Fee: int32(i.Fees.Default), Forwards: i.Forwarding.Enabled, ClientLimits: [3]int64{c.Requests, c.Creates, c.OpenOrders},
		NoPoints: i.NoPoints,
	}
	for family, to := range i.Fees.PayTo {
		if r.PayTo == nil {
			r.PayTo = map[string]addressRow{}
		}
		r.PayTo[string(family)] = addressToRow(to)
	}
	for _, p := range i.Forwarding.Egress {
		r.Egress = append(r.Egress, p.String())
	}
	return r
}

func (r integratorRow) into(i *integrator.Integrator) error {
	i.Limits = integrator.Limits{Requests: r.Limits[0], Quotes: r.Limits[1], Creates: r.Limits[2], OpenOrders: r.Limits[3]}
	i.Window, i.AttributionDays, i.Fees.Default = time.Duration(r.Window), r.Days, money.Percent(r.Fee)
	i.NoPoints = r.NoPoints
	for family, to := range r.PayTo {
		if i.Fees.PayTo == nil {
			i.Fees.PayTo = map[chain.Family]chain.Address{}
		}
		i.Fees.PayTo[chain.Family(family)] = to.address()
	}
	i.Forwarding = integrator.Forwarding{
		Enabled: r.Forwards,
		Limits:  integrator.ClientLimits{Requests: r.ClientLimits[0], Creates: r.ClientLimits[1], OpenOrders: r.ClientLimits[2]},
	}
	for _, text := range r.Egress {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return fmt.Errorf("an approved server: %w", err)
		}
		i.Forwarding.Egress = append(i.Forwarding.Egress, p)
	}
	return nil
}

const integratorColumns = `id, name, status, version, created_at, updated_at, doc`

func scanIntegrator(r row) (i integrator.Integrator, err error) {
	var created, updated int64
	var doc string
	if err := r.Scan((*string)(&i.ID), &i.Name, (*string)(&i.Status), &i.Version, &created, &updated, &doc); err != nil {
		return i, err
	}
	i.CreatedAt, i.UpdatedAt = unmicro(created), unmicro(updated)
	var settings integratorRow
	if err = readDoc(doc, &settings, &settings.V); err == nil {
		err = settings.into(&i)
	}
	if err != nil {
		return i, fmt.Errorf("integrator %s: %w", i.ID, err)
	}
	return i, nil
}

const keyColumns = `id, integrator, kind, label, hint, digest, requests, created_at, revoked_at, last_used_at`

func scanKey(r row) (k integrator.Key, err error) {
	var digest string
	var created, used int64
	var revoked *int64
	err = r.Scan((*string)(&k.ID), (*string)(&k.Integrator), (*string)(&k.Kind), &k.Label, &k.Hint, &digest, &k.Requests, &created, &revoked, &used)
	if err != nil {
		return k, err
	}
	k.CreatedAt, k.LastUsedAt = unmicro(created), unmicro(used)
	if revoked != nil {
		k.RevokedAt = unmicro(*revoked)
	}
	sum, err := parseDigest(digest)
	if err != nil {
		return k, fmt.Errorf("key %s: %w", k.ID, err)
	}
	k.Digest = sum
	return k, nil
}

// parseDigest reads 32 bytes of hex.
func parseDigest(text string) (sum [32]byte, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(sum) {
		return sum, fmt.Errorf("%d letters are not a digest", len(text))
	}
	return [32]byte(raw), nil
}

const entryColumns = `seq, at, operator, action, target, was, became, prev, sum`

func scanEntry(r row) (e office.Entry, err error) {
	var at int64
	var prev, sum string
	if err := r.Scan(&e.Seq, &at, &e.By, &e.Action, &e.Target, &e.Before, &e.After, &prev, &sum); err != nil {
		return e, err
	}
	e.At = unmicro(at)
	var before, own [32]byte
	if before, err = parseDigest(prev); err == nil {
		own, err = parseDigest(sum)
	}
	e.Prev, e.Sum = before, own
	if err != nil { // a sum that is none was not written by us
		return e, fmt.Errorf("%w: entry %d: %w", office.ErrBroken, e.Seq, err)
	}
	return e, nil
}
