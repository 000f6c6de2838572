package market

import (
	"bytes"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Any bytes are read without harm, and what is read as an offer is written back as
// one that reads the same.
func FuzzUnpack(f *testing.F) {
	at := time.Unix(1767323045, 0)
	o := Offer{
		Quote:   quote.Quote{In: money.FromUint64(5), Steps: []quote.Step{{Venue: "v", Plan: []byte("p")}}, ExpiresAt: at},
		Earning: &Earning{Percent: 5, PayTo: chain.CanonicalAddress(chain.EVM, "0x1")}, CreatedAt: at,
	}
	p := packer{}
	p.offer(&o)
	f.Add(p.b)
	f.Add(p.b[:20])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		u := unpacker{b: b}
		got, err := u.offer()
		if err != nil {
			return
		}
		again := packer{}
		again.offer(&got)
		u = unpacker{b: again.b}
		back, err := u.offer()
		if err != nil {
			t.Fatalf("%x is written as %x, which is not read: %v", b, again.b, err)
		}
		third := packer{}
		third.offer(&back)
		if !bytes.Equal(third.b, again.b) {
			t.Fatalf("%x is written as %x and as %x", b, again.b, third.b)
		}
	})
}
