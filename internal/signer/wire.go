package signer

import (
	"errors"
	"time"

	"ferry/internal/chain"
)

// Bounds of what goes through the socket.
const (
	maxRequest = 4 << 20 // a transaction of Bitcoin with all that it spends
	maxAnswer  = 4 << 20
	// maxWait is how long one request may take, on either side.
	maxWait = 30 * time.Second
)

// Where the server answers.
const (
	signPath    = "/sign"
	addressPath = "/address"
	healthPath  = "/health"
)

// ErrUnreachable: whether the signer signed is not known, because it did not answer or
// did not say. It is never a refusal. Asking again is safe: nothing was sent anywhere,
// and the same paper has the same signature.
var ErrUnreachable = errors.New("signer: not reachable")

// The words of the socket.
type (
	keyWord struct {
		Account string `json:"account"`
		Index   uint32 `json:"index"`
	}
	paperWord struct {
		Chain    string    `json:"chain"`
		For      string    `json:"for"`
		Cancel   bool      `json:"cancel,omitempty"`
		Unsigned []byte    `json:"unsigned"`
		Keys     []keyWord `json:"keys"`
	}
	addressWord struct {
		Chain string  `json:"chain"`
		Key   keyWord `json:"key"`
	}
	// answerWord is any answer; which parts of it are there depends on the question.
	answerWord struct {
		Raw     []byte            `json:"raw,omitempty"`
		Family  string            `json:"family,omitempty"`
		Address string            `json:"address,omitempty"`
		Hot     map[string]string `json:"hot,omitempty"`
		Lists   string            `json:"lists,omitempty"`
		Refused Reason            `json:"refused,omitempty"`
		Unknown bool              `json:"unknownKey,omitempty"`
		Text    string            `json:"text,omitempty"`
	}
)

func paperToWord(p chain.Paper) paperWord {
	w := paperWord{Chain: string(p.Chain), For: p.For, Cancel: p.Cancel, Unsigned: p.Unsigned}
	for _, k := range p.Keys {
		w.Keys = append(w.Keys, keyWord{string(k.Account), k.Index})
	}
	return w
}

func (w paperWord) paper() chain.Paper {
	p := chain.Paper{Chain: chain.ID(w.Chain), For: w.For, Cancel: w.Cancel, Unsigned: w.Unsigned}
	for _, k := range w.Keys {
		p.Keys = append(p.Keys, k.key())
	}
	return p
}

func (k keyWord) key() chain.Key { return chain.Key{Account: chain.Account(k.Account), Index: k.Index} }
