package signer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"ferry/internal/chain"
)

// methodText is a method of a list in words that have one form only.
type methodText struct {
	Signature, Amount, Token, Coin, Inner string
	Own, Also, Empty                      []string
	Only                                  map[string][]string
	Few                                   map[string][]uint64
}

// Digest is short for lists of contracts that may be called: two processes that have the
// same let through the same calls. No lists are the empty text.
func Digest(lists map[chain.ID][]chain.Contract) string {
	if len(lists) == 0 {
		return ""
	}
	type contractText struct {
		Address string
		Methods []methodText
	}
	all := map[chain.ID][]contractText{}
	for id, list := range lists {
		for _, c := range list {
			t := contractText{Address: c.Address.Text()}
			for _, m := range c.Methods {
				t.Methods = append(t.Methods, inWords(m))
			}
			all[id] = append(all[id], t)
		}
	}
	text, _ := json.Marshal(all) // texts and numbers always can be, and keys are sorted
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func inWords(m chain.Method) methodText {
	t := methodText{
		Signature: m.Signature, Amount: m.Amount, Token: m.Token, Coin: m.Coin.Text(), Inner: m.Inner, Own: m.Own, Also: texts(m.Also), Empty: m.Empty,
		Only: map[string][]string{}, Few: m.Few,
	}
	for place, few := range m.Only {
		t.Only[place] = texts(few)
	}
	return t
}

func texts(all []chain.Address) (out []string) {
	for _, a := range all {
		out = append(out, a.Text())
	}
	return out
}

// Lists is short for what it lets be called.
func (s *Signer) Lists() string { return Digest(s.policy.Contracts) }
