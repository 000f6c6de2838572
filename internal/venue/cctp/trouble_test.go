package cctp_test

import (
	"encoding/binary"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	dev "ferry/internal/devnet/cctp"
)

// ill is something that is wrong with the attester for a while.
type ill struct {
	begin, end func()
	why        string
}

// resigned is what the attester says after somebody changed the message and it was signed
// anew by keys of theirs.
func resigned(change func(m []byte), keys ...int) func(a *dev.Answer) {
	all := dev.Keys(4) // the last is nobody's
	return func(a *dev.Answer) {
		m := slices.Clone(a.Message)
		change(m)
		var sigs []byte
		for _, k := range keys {
			sigs = append(sigs, must(dev.Signatures(m, all[k]))...)
		}
		a.Message, a.Attestation = m, hexutil.Encode(sigs)
	}
}

// rising are two attesters in the order of their addresses, and then the same turned.
func rising() (up, down []int) {
	keys := dev.Keys(3)
	if addressOf(keys[0]).Cmp(addressOf(keys[1])) < 0 {
		return []int{0, 1}, []int{1, 0}
	}
	return []int{1, 0}, []int{0, 1}
}

// highS turns a signature into the other one that is as good, which contracts refuse.
func highS(a *dev.Answer) {
	sig := hexutil.MustDecode(a.Attestation)
	s := new(big.Int).Sub(crypto.S256().Params().N, new(big.Int).SetBytes(sig[32:64]))
	s.FillBytes(sig[32:64])
	sig[64] = 27 + 28 - sig[64]
	a.Attestation = hexutil.Encode(sig)
}

// troubles are the ways in which an attester fails.
func troubles(r *rig) map[string]ill {
	bend := func(why string, f func(a *dev.Answer)) ill {
		return ill{func() { r.attester.Bend(f) }, func() { r.attester.Bend(nil) }, why}
	}
	as := func(change func(m []byte)) func(a *dev.Answer) {
		up, _ := rising()
		return resigned(change, up...)
	}
	up, down := rising()
	keep := func([]byte) {}
	return map[string]ill{
		"down":                 {func() { r.attester.Stop(true) }, func() { r.attester.Stop(false) }, "status 503"},
		"slow":                 {func() { r.attester.Delay(time.Hour) }, func() { r.attester.Delay(0) }, "not attested"},
		"signed by nobody":     bend("", resigned(keep, 3)),
		"one signature":        bend("1 signatures", resigned(keep, 0)),
		"one stranger":         bend("", resigned(keep, 0, 3)),
		"the same one twice":   bend("rising order", resigned(keep, 0, 0)),
		"in another order":     bend("rising order", resigned(keep, down...)),
		"one too many":         bend("", resigned(keep, up[0], up[1], up[1])),
		"the other form":       bend("only form", highS),
		"no signature":         bend("0 bytes", func(a *dev.Answer) { a.Attestation = "0x" }),
		"half a signature":     bend("are no signatures", func(a *dev.Answer) { a.Attestation = a.Attestation[:100] }),
		"another message":      bend("does not hold", func(a *dev.Answer) { a.Message[20] ^= 1 }), // its nonce, not signed anew
		"no nonce":             bend("no nonce", as(func(m []byte) { clear(m[12:44]) })),
		"another domain":       bend("not attested", as(func(m []byte) { m[11] = 9 })),
		"another recipient":    bend("not attested", as(func(m []byte) { m[148+50] ^= 1 })),
		"another amount":       bend("not attested", as(func(m []byte) { m[148+99] ^= 1 })),
		"another tag":          bend("not attested", as(func(m []byte) { m[148+230] ^= 1 })),
		"a fee nobody offered": bend("its fee is 1", as(func(m []byte) { m[148+195] = 1 })),
		"it expired":           bend("it expired", as(func(m []byte) { m[148+227] = 1 })),
		"not final":            bend("finality 1000", as(func(m []byte) { binary.BigEndian.PutUint32(m[144:], 1000) })),
		"cut off":              bend("not attested", func(a *dev.Answer) { a.Message = a.Message[:300] }),
		"no bytes":             bend("an attestation", func(a *dev.Answer) { a.Attestation = "PENDING" }),
		"pending":              bend("not attested", func(a *dev.Answer) { a.Status = "pending_confirmations" }),
	}
}
