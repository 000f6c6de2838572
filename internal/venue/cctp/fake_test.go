package cctp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	dev "ferry/internal/devnet/cctp"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/venue/cctp"
)

var errDown = errors.New("no quorum")

// fake is a chain that says what a test put there.
type fake struct {
	receipts map[chain.TxID]chain.Receipt
	logs     []chain.Log
	views    map[string][]byte // by the name of the function, whatever its arguments
	viewed   int
	head     chain.Head
	down     string // the question that has no answer: head, receipt, logs, or a function
}

func (f *fake) Head(context.Context) (chain.Head, error) {
	if f.down == "head" {
		return chain.Head{}, errDown
	}
	return f.head, nil
}

func (f *fake) View(_ context.Context, _ chain.Address, data []byte) ([]byte, error) {
	f.viewed++
	for name, answer := range f.views {
		if string(crypto.Keccak256([]byte(name))[:4]) != string(data[:4]) {
			continue
		}
		if f.down == name {
			return nil, errDown
		}
		return answer, nil
	}
	return nil, errors.New("nobody answers")
}

func (f *fake) Receipt(_ context.Context, tx chain.TxID) (chain.Receipt, error) {
	if f.down == "receipt" {
		return chain.Receipt{}, errDown
	}
	r, ok := f.receipts[tx]
	if !ok {
		return chain.Receipt{Tx: tx}, nil
	}
	return r, nil
}

func (f *fake) Logs(_ context.Context, q chain.LogQuery) ([]chain.Log, error) {
	if f.down == "logs" {
		return nil, errDown
	}
	var out []chain.Log
	for _, l := range f.logs {
		if l.Block.Height >= q.From && l.Block.Height <= q.To {
			out = append(out, l)
		}
	}
	return out, nil
}

// scribe attests what a test says.
type scribe struct {
	say []cctp.Attested
	err error
}

func (s *scribe) Messages(context.Context, uint32, chain.TxID) ([]cctp.Attested, error) {
	return s.say, s.err
}

// Functions of the contracts, as fakes know them.
const (
	fnAllowance = "allowance(address,address)"
	fnUsed      = "usedNonces(bytes32)"
	fnThreshold = "signatureThreshold()"
	fnAttester  = "isEnabledAttester(address)"
	fnDomain    = "localDomain()"
	fnSpeaks    = "localMessageTransmitter()"
	fnMinter    = "localMinter()"
	fnRemote    = "remoteTokenMessengers(uint32)"
	fnLimit     = "burnLimitsPerMessage(address)"
)

// stage is a venue between two fakes, with the wanted bridge burned on the one and
// attested, and nothing yet on the other.
type stage struct {
	t         testing.TB
	src, dst  *fake
	scribe    *scribe
	cfg       cctp.Config
	gas       cheap
	attested  cctp.Attested
	burnedFor cctp.Bridge
}

const burnHash, mintHash = "0xb0", "0xa0"

func newStage(t testing.TB) *stage {
	t.Helper()
	side := func(d, other cctp.Domain) *fake {
		w := func(a chain.Address) []byte { x := asWord(a); return x[:] }
		return &fake{
			receipts: map[chain.TxID]chain.Receipt{}, head: chain.Head{Tip: chain.Block{Height: 120, Hash: "t"}, Final: chain.Block{Height: 100, Hash: "f"}},
			views: map[string][]byte{
				fnAllowance: numWord(n(0)), fnUsed: numWord(n(0)), fnThreshold: numWord(n(1)), fnAttester: numWord(n(1)), fnDomain: numWord(n(uint64(d.Number))),
				fnSpeaks: w(d.Transmitter), fnMinter: w(canonical(common.HexToAddress("0x99"))), fnRemote: w(other.Messenger), fnLimit: numWord(n(1_000_000)),
			},
		}
	}
	s := &stage{t: t, src: side(here, there), dst: side(there, here), scribe: &scribe{}}
	s.cfg = cctp.Config{Domains: []cctp.Domain{here, there}, Service: 2_000, MaxFee: 1_000, Min: n(100), Max: n(900_000), Poll: time.Second, Fresh: time.Minute}
	s.burnedFor = wanted
	s.src.receipts[burnHash] = chain.Receipt{
		Tx: burnHash, Fate: chain.Final, Block: chain.Block{Height: 90, Hash: "h", Time: start},
		Logs: []chain.Log{tokenLog(here, alice, canonical(common.HexToAddress("0x99")), n(500)), sentLog(here, message().Bytes())},
	}
	m := handed()
	s.attested = cctp.Attested{Message: m.Bytes(), Attestation: must(dev.Signatures(m.Bytes(), dev.Keys(1)...))}
	s.scribe.say = []cctp.Attested{s.attested}
	return s
}

var start = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func (s *stage) venue() *cctp.Venue {
	s.t.Helper()
	v, err := cctp.New(s.cfg, map[chain.ID]cctp.Chain{here.Chain: s.src, there.Chain: s.dst}, s.scribe, s.gas)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// mint lets somebody hand the message in, in a block of the other side.
func (s *stage) mint(height uint64) {
	m := handed()
	logs := []chain.Log{tokenLog(there, canonical(common.Address{}), bob, n(498)), mintedLog(there, bob, n(498), n(2)), receivedLog(there, m)}
	at := chain.Block{Height: height, Hash: "m"}
	fate := chain.Included
	if height <= s.dst.head.Final.Height {
		fate = chain.Final
	}
	s.dst.receipts[mintHash] = chain.Receipt{Tx: mintHash, Fate: fate, Block: at, Logs: logs}
	l := logs[2]
	l.Tx, l.Block = mintHash, at
	s.dst.logs = append(s.dst.logs, l)
	s.dst.views[fnUsed] = numWord(n(1))
}

func (s *stage) intent(amount uint64) market.Intent {
	return market.Intent{Give: here.Token, Get: there.Token, Side: market.From, Amount: n(amount), At: start}
}

// dear prices gas above everything.
type dear struct{ err error }

func (d dear) Gas(context.Context, chain.ID, uint64, chain.Asset, time.Time) (money.Amount, error) {
	return n(1_000_000_000), d.err
}
