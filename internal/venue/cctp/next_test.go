package cctp_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	dev "ferry/internal/devnet/cctp"
	"ferry/internal/quote"
	"ferry/internal/venue/cctp"
)

// The step of the wanted bridge, and its calls.
var (
	theStep = quote.Step{Venue: cctp.Name, In: here.Token, Out: there.Token, MinOut: n(1), Plan: []byte(`{"v":1,"since":80,"maxFee":10000,"salt":"x"}`)}

	approved = func(f chain.Fate) quote.Sent {
		return quote.Sent{Call: chain.Call{Chain: here.Chain, From: "hot", To: chain.CanonicalAddress(chain.EVM, here.Token.Ref), Asset: here.Chain.Native()}, Tx: "0xc0", Fate: f}
	}
)

// burnCall is the wanted bridge's burn, as a user's calldata has it.
func (s *stage) burnCall(f chain.Fate) quote.Sent {
	s.t.Helper()
	c, err := s.venue().Burn(s.burnedFor)
	if err != nil {
		s.t.Fatal(err)
	}
	return quote.Sent{Call: chain.Call{Chain: c.Chain, From: "hot", To: c.To, Asset: here.Token, Amount: n(500), Data: c.Data}, Tx: burnHash, Fate: f}
}

func (s *stage) mintCall(f chain.Fate) quote.Sent {
	s.t.Helper()
	c, err := s.venue().Mint(wanted, cctp.Status{Stage: cctp.Ready, Attested: s.attested})
	if err != nil {
		s.t.Fatal(err)
	}
	return quote.Sent{Call: chain.Call{Chain: c.Chain, From: "hot", To: c.To, Asset: there.Chain.Native(), Data: c.Data}, Tx: mintHash, Fate: f}
}

// moved says what a move is, in a word.
func moved(m quote.Move, err error) string {
	if err != nil {
		return "error"
	}
	switch m := m.(type) {
	case quote.Send:
		switch {
		case m.Call.Chain == there.Chain:
			return "mint"
		case m.Call.To == here.Messenger:
			return "burn"
		}
		return "approve"
	case quote.Done:
		return fmt.Sprintf("done %s %s", m.In, m.Out)
	case quote.Wait:
		return "wait"
	case quote.Fail:
		return "fail"
	}
	return fmt.Sprintf("%T", m)
}

func TestWhatAStepNeedsNext(t *testing.T) {
	t.Parallel()
	const final, reverted, dead = chain.Final, chain.Reverted, chain.Dead
	calls := func(c ...quote.Sent) []quote.Sent { return c }
	allow := func(s *stage) { s.src.views[fnAllowance] = numWord(n(500)) }
	for name, c := range map[string]struct {
		change func(s *stage)
		calls  func(s *stage) []quote.Sent
		want   string
	}{
		"nothing yet":                      {nil, nil, "approve"},
		"allowed before":                   {allow, nil, "burn"},
		"allowed a little less":            {func(s *stage) { s.src.views[fnAllowance] = numWord(n(499)) }, nil, "approve"},
		"approving":                        {allow, func(*stage) []quote.Sent { return calls(approved(chain.Included)) }, "wait"},
		"approving, not signed":            {allow, func(*stage) []quote.Sent { return calls(approved(chain.Missing)) }, "wait"},
		"approved":                         {allow, func(*stage) []quote.Sent { return calls(approved(final)) }, "burn"},
		"approving died":                   {nil, func(*stage) []quote.Sent { return calls(approved(dead)) }, "approve"},
		"approved in vain":                 {nil, func(*stage) []quote.Sent { return calls(approved(final), approved(final), approved(final)) }, "fail"},
		"above the limit":                  {func(s *stage) { allow(s); s.src.views[fnLimit] = numWord(n(499)) }, nil, "fail"},
		"no such token":                    {func(s *stage) { allow(s); s.src.views[fnLimit] = numWord(n(0)) }, nil, "fail"},
		"the messenger sends elsewhere":    {func(s *stage) { allow(s); s.src.views[fnRemote] = numWord(n(7)) }, nil, "error"},
		"the limit is not known":           {func(s *stage) { allow(s); s.src.down = fnLimit }, nil, "error"},
		"the minter is not known":          {func(s *stage) { allow(s); s.src.down = fnMinter }, nil, "error"},
		"the allowance is not known":       {func(s *stage) { allow(s); s.src.down = fnAllowance }, nil, "error"},
		"the other messenger is not known": {func(s *stage) { allow(s); s.src.down = fnRemote }, nil, "error"},
		"an answer of no number":           {func(s *stage) { s.src.views[fnAllowance] = []byte("short") }, nil, "error"},

		"burning":       {allow, func(s *stage) []quote.Sent { return calls(s.burnCall(chain.Pending)) }, "wait"},
		"burn reverted": {allow, func(s *stage) []quote.Sent { return calls(s.burnCall(reverted)) }, "burn"},
		"burn died":     {allow, func(s *stage) []quote.Sent { return calls(s.burnCall(dead), s.burnCall(dead), s.burnCall(dead)) }, "burn"},
		"burn reverts for ever": {allow, func(s *stage) []quote.Sent {
			return calls(s.burnCall(reverted), s.burnCall(reverted), s.burnCall(reverted))
		}, "fail"},
		"burned twice":          {allow, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.burnCall(final)) }, "error"},
		"burned after a revert": {nil, func(s *stage) []quote.Sent { return calls(s.burnCall(reverted), s.burnCall(final)) }, "mint"},
		"burned":                {nil, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "mint"},
		"burned, limit gone":    {func(s *stage) { s.src.views[fnLimit] = numWord(n(0)) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "mint"},
		"burn not proven":       {func(s *stage) { s.src.down = "receipt" }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"burn not final here":   {func(s *stage) { s.fate(chain.Included) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait"},
		"burn unknown here":     {func(s *stage) { delete(s.src.receipts, burnHash) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"burn reverted here":    {func(s *stage) { s.fate(reverted) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"another's receipt":     {func(s *stage) { s.src.receipts[burnHash] = receipt() }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"another's burn of as much": {func(s *stage) {
			r := s.src.receipts[burnHash]
			r.Tx = "0xother"
			s.src.receipts[burnHash] = r
		}, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"a receipt of nothing":       {func(s *stage) { s.src.receipts[burnHash] = chain.Receipt{Tx: burnHash, Fate: final} }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"a burn that burned another": {func(s *stage) { s.burnedFor.Tag = cctp.Tag{9} }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},

		"not attested":                {func(s *stage) { s.scribe.say = nil }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait"},
		"the service is down":         {func(s *stage) { s.scribe.err = cctp.ErrAttester }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait"},
		"the service is busy":         {func(s *stage) { s.scribe.err = cctp.ErrBusy }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait"},
		"nobody asked the service":    {func(s *stage) { s.scribe.err = errDown }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"forged":                      {func(s *stage) { s.dst.views[fnAttester] = numWord(n(0)) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait"},
		"too few":                     {func(s *stage) { s.dst.views[fnThreshold] = numWord(n(2)) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait"},
		"a threshold of nothing":      {func(s *stage) { s.dst.views[fnThreshold] = numWord(n(0)) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"a threshold of too many":     {func(s *stage) { s.dst.views[fnThreshold] = bytes.Repeat([]byte{0xff}, 32) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"the threshold is not known":  {func(s *stage) { s.dst.down = fnThreshold }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"the attesters are not known": {func(s *stage) { s.dst.down = fnAttester }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"the nonce is not known":      {func(s *stage) { s.dst.down = fnUsed }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},

		"minting":                     {nil, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.mintCall(chain.Included)) }, "wait"},
		"minted":                      {func(s *stage) { s.mint(95) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.mintCall(final)) }, "done 500 498"},
		"minted, the service is gone": {func(s *stage) { s.mint(95); s.scribe.err = errDown }, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.mintCall(final)) }, "done 500 498"},
		"minted, no logs":             {func(s *stage) { s.mint(95); s.dst.down = "logs" }, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.mintCall(final)) }, "done 500 498"},
		"minted by another":           {func(s *stage) { s.mint(95) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "done 500 498"},
		"minted by another, no more attester": {
			func(s *stage) { s.mint(95); s.dst.views[fnAttester] = numWord(n(0)) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "done 500 498",
		},
		"minted by another before ours": {func(s *stage) { s.mint(95) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.dead(reverted)) }, "done 500 498"},
		"minted at the first height":    {func(s *stage) { s.mint(80) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "done 500 498"},
		"minted by another, not final":  {func(s *stage) { s.mint(101) }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait"},
		"minted in a block that is not final to all": {func(s *stage) {
			s.mint(95)
			r := s.dst.receipts[mintHash]
			r.Fate = chain.Included
			s.dst.receipts[mintHash] = r
		}, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait"},
		"minted, and no logs for us": {func(s *stage) { s.mint(95); s.dst.down = "logs" }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"minted, and no head":        {func(s *stage) { s.mint(95); s.dst.down = "head" }, func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "error"},
		"minted, and no receipt":     {func(s *stage) { s.mint(95); s.dst.down = "receipt" }, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.mintCall(final)) }, "error"},
		"mint died":                  {nil, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.mintCall(dead)) }, "mint"},
		"mint reverted":              {nil, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.mintCall(reverted)) }, "mint"},
		"mint reverts for ever": {
			nil, func(s *stage) []quote.Sent {
				return calls(s.burnCall(final), s.mintCall(reverted), s.mintCall(reverted), s.mintCall(reverted))
			}, "wait",
		},
		"minted less than was said": {func(s *stage) { s.mint(95); s.dst.receipts[mintHash].Logs[1].Data[31]-- }, func(s *stage) []quote.Sent { return calls(s.burnCall(final), s.mintCall(final)) }, "error"},
		"minted before it burned":   {allow, func(s *stage) []quote.Sent { return calls(s.mintCall(final)) }, "error"},
		"a nonce of another": {
			func(s *stage) {
				s.mint(95)
				m := handed()
				m.Hook = []byte("another tag of16")
				s.dst.receipts[mintHash].Logs[2] = receivedLog(there, m)
			},
			func(s *stage) []quote.Sent { return calls(s.burnCall(final)) }, "wait",
		},
		"a call of another": {allow, func(s *stage) []quote.Sent {
			c := approved(final)
			c.Call.To = alice
			return calls(c)
		}, "error"},
	} {
		s := newStage(t)
		if c.change != nil {
			c.change(s)
		}
		known := quote.Progress{In: n(500), At: start}
		if c.calls != nil {
			known.Calls = c.calls(s)
		}
		m, err := s.venue().Next(t.Context(), theStep, known)
		if got := moved(m, err); got != c.want {
			t.Errorf("%s: got %s, want %s: %+v, %v", name, got, c.want, m, err)
		}
		again, err2 := s.venue().Next(t.Context(), theStep, known)
		if !reflect.DeepEqual(m, again) || (err == nil) != (err2 == nil) {
			t.Errorf("%s: got %+v and then %+v", name, m, again)
		}
	}
}

// What attesters fill in is held to what was asked for, whoever signs it.
func TestAnAttestationIsHeldToTheBurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(m *cctp.Message)
		need   int // signatures, all by one attester
		want   string
	}{
		"as it should be":       {func(*cctp.Message) {}, 1, "mint"},
		"for no fee":            {func(m *cctp.Message) { m.Fee = n(0) }, 1, "mint"},
		"for all of the fee":    {func(m *cctp.Message) { m.Fee = n(5) }, 1, "mint"},
		"it does not expire":    {func(m *cctp.Message) { m.Expires = 122 }, 1, "mint"},
		"it expires now":        {func(m *cctp.Message) { m.Expires = 121 }, 1, "wait"},
		"at an earlier time":    {func(m *cctp.Message) { m.Finality = 1999 }, 1, "wait"},
		"for a higher fee":      {func(m *cctp.Message) { m.Fee = n(6) }, 1, "wait"},
		"without a nonce":       {func(m *cctp.Message) { m.Nonce = chain.Word{} }, 1, "wait"},
		"the same signer twice": {func(*cctp.Message) {}, 2, "wait"},
		"of another amount":     {func(m *cctp.Message) { m.Amount = n(501) }, 1, "wait"},
		"for another":           {func(m *cctp.Message) { m.Recipient = asWord(alice) }, 1, "wait"},
		"of another bridge":     {func(m *cctp.Message) { m.Hook = []byte("another tag of16") }, 1, "wait"},
		"to another messenger":  {func(m *cctp.Message) { m.To = asWord(alice) }, 1, "wait"},
	} {
		s := newStage(t)
		m := handed()
		c.change(&m)
		var sigs []byte
		for range c.need {
			sigs = append(sigs, must(dev.Signatures(m.Bytes(), dev.Keys(1)...))...)
		}
		s.dst.views[fnThreshold] = numWord(n(uint64(c.need)))
		s.scribe.say = []cctp.Attested{{Message: []byte("of something else")}, {Message: m.Bytes(), Attestation: sigs}}
		known := quote.Progress{In: n(500), At: start, Calls: []quote.Sent{s.burnCall(chain.Final)}}
		got, err := s.venue().Next(t.Context(), theStep, known)
		if moved(got, err) != c.want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func (s *stage) fate(f chain.Fate) {
	r := s.src.receipts[burnHash]
	r.Fate = f
	s.src.receipts[burnHash] = r
}

// dead is a mint of ours that landed nowhere where it is looked for.
func (s *stage) dead(f chain.Fate) quote.Sent {
	c := s.mintCall(f)
	c.Tx = "0xdead"
	return c
}

func TestCallsSayWhatMayLeave(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.src.views[fnAllowance] = numWord(n(500))
	m, err := s.venue().Next(t.Context(), theStep, quote.Progress{In: n(500), At: start})
	if err != nil {
		t.Fatal(err)
	}
	c := m.(quote.Send).Call
	if c.From != "hot" || c.Asset != here.Token || c.Amount != n(500) || c.For != "" || len(c.Sources) != 0 {
		t.Errorf("a burn is %+v", c)
	}
	// Two orders of one quote burn the same with tags of their own.
	later, err := s.venue().Next(t.Context(), theStep, quote.Progress{In: n(500), At: start.Add(time.Nanosecond)})
	if err != nil || bytes.Equal(later.(quote.Send).Call.Data, c.Data) {
		t.Errorf("a burn at another time has the same tag, %v", err)
	}
	m, err = s.venue().Next(t.Context(), theStep, quote.Progress{In: n(500), At: start, Calls: []quote.Sent{s.burnCall(chain.Final)}})
	if err != nil {
		t.Fatal(err)
	}
	if c = m.(quote.Send).Call; c.From != "hot" || !c.Amount.IsZero() || !c.Asset.IsNative() || c.Asset.Chain != there.Chain {
		t.Errorf("a mint is %+v", c)
	}
}

func TestAWaitLastsAboutAsLongAsItTakes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.scribe.say = nil
	for i := range s.cfg.Domains {
		s.cfg.Domains[i].Attested = 30 * time.Second
	}
	known := quote.Progress{In: n(500), Calls: []quote.Sent{s.burnCall(chain.Final)}}
	for after, want := range map[time.Duration]time.Duration{0: 30 * time.Second, 20 * time.Second: 10 * time.Second, time.Hour: time.Second, -time.Hour: time.Minute} {
		known.At = start.Add(after)
		m, err := s.venue().Next(t.Context(), theStep, known)
		if w, ok := m.(quote.Wait); err != nil || !ok || w.For != want {
			t.Errorf("%s after the burn: got %+v, %v, want %s", after, m, err, want)
		}
	}
}

func TestAStepThatIsNotItsOwnIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *quote.Step){
		"another venue":     func(s *quote.Step) { s.Venue = "other" },
		"another token":     func(s *quote.Step) { s.In.Ref = alice.Text() },
		"another output":    func(s *quote.Step) { s.Out.Ref = alice.Text() },
		"the same chain":    func(s *quote.Step) { s.Out = s.In },
		"no such chain":     func(s *quote.Step) { s.Out.Chain = "eip155:9" },
		"no plan":           func(s *quote.Step) { s.Plan = nil },
		"a plan of another": func(s *quote.Step) { s.Plan = []byte(`{"v":2}`) },
		"a mad fee":         func(s *quote.Step) { s.Plan = []byte(`{"v":1,"maxFee":900000}`) },
	} {
		step := theStep
		change(&step)
		if m, err := newStage(t).venue().Next(t.Context(), step, quote.Progress{In: n(500), At: start}); err == nil {
			t.Errorf("%s: got %+v", name, m)
		}
	}
}

func TestCalldataForUsersIsRefusedWhereItWouldLoseMoney(t *testing.T) {
	t.Parallel()
	v := newStage(t).venue()
	for name, change := range map[string]func(b *cctp.Bridge){
		"no tag": func(b *cctp.Bridge) { b.Tag = cctp.Tag{} }, "nothing": func(b *cctp.Bridge) { b.Amount = n(0) }, "all of it a fee": func(b *cctp.Bridge) { b.MaxFee = b.Amount },
		"nobody": func(b *cctp.Bridge) { b.Recipient = chain.Address{} }, "nowhere": func(b *cctp.Bridge) { b.To = "eip155:9" }, "to itself": func(b *cctp.Bridge) { b.To = b.From },
		"another family": func(b *cctp.Bridge) { b.Recipient = chain.CanonicalAddress(chain.Solana, bob.Text()) },
	} {
		b := wanted
		change(&b)
		if got, err := v.Burn(b); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	for _, s := range []cctp.Stage{cctp.Unseen, cctp.Burning, cctp.Reverted, cctp.Attesting, cctp.Minting, cctp.Minted} {
		if got, err := v.Mint(wanted, cctp.Status{Stage: s}); err == nil || !strings.Contains(err.Error(), string(s)) {
			t.Errorf("%s: got %+v, %v", s, got, err)
		}
	}
	c, err := v.Approve(wanted)
	if err != nil || c.To.Text() != here.Token.Ref || !bytes.HasSuffix(c.Data, numWord(n(500))) {
		t.Errorf("an approval is %+v, %v", c, err)
	}
	b := wanted
	b.From = "eip155:9"
	if _, err := v.Approve(b); !errors.Is(err, cctp.ErrDomain) {
		t.Errorf("got %v", err)
	}
}
