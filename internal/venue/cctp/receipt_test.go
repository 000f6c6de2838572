package cctp_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/cctp"
)

// Two domains and a bridge between them, for receipts that nobody made.
var (
	here  = pretend("eip155:1", 0, 0x10)
	there = pretend("eip155:2", 6, 0x20)

	alice, bob = canonical(common.HexToAddress("0xa11ce")), canonical(common.HexToAddress("0xb0b"))

	wanted = cctp.Bridge{From: here.Chain, To: there.Chain, Depositor: alice, Recipient: bob, Amount: n(500), MaxFee: n(5), Tag: cctp.Tag{1, 2, 3}}
)

func pretend(id chain.ID, number uint32, at byte) cctp.Domain {
	address := func(i byte) chain.Address { return canonical(common.BytesToAddress([]byte{at, i})) }
	return cctp.Domain{
		Chain: id, Number: number, Token: chain.Asset{Chain: id, Ref: address(1).Text()}, Messenger: address(2), Transmitter: address(3), Own: address(4), Attested: 1,
	}
}

func asWord(a chain.Address) chain.Word { return chain.Word(common.BytesToHash(toCommon(a).Bytes())) }

func numWord(a money.Amount) []byte {
	v, _ := new(big.Int).SetString(a.String(), 10)
	return common.BigToHash(v).Bytes()
}

// packed is bytes as contracts write them.
func packed(b []byte) []byte {
	out := append(numWord(n(uint64(len(b)))), b...)
	return append(out, make([]byte, (32-len(b)%32)%32)...)
}

func topic(signature string) chain.Word { return chain.Word(crypto.Keccak256Hash([]byte(signature))) }

func tokenLog(d cctp.Domain, from, to chain.Address, amount money.Amount) chain.Log {
	return chain.Log{
		Address: chain.CanonicalAddress(chain.EVM, d.Token.Ref), Data: numWord(amount),
		Topics: []chain.Word{topic("Transfer(address,address,uint256)"), asWord(from), asWord(to)},
	}
}

func sentLog(d cctp.Domain, m []byte) chain.Log {
	return chain.Log{Address: d.Transmitter, Topics: []chain.Word{topic("MessageSent(bytes)")}, Data: append(numWord(n(32)), packed(m)...)}
}

func receivedLog(d cctp.Domain, m cctp.Message) chain.Log {
	data := append(common.BigToHash(big.NewInt(int64(m.Source))).Bytes(), m.Sender[:]...)
	data = append(append(data, numWord(n(96))...), packed(m.Bytes()[148:])...)
	return chain.Log{
		Address: d.Transmitter, Data: data,
		Topics: []chain.Word{topic("MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)"), {}, m.Nonce, chain.Word(common.BigToHash(big.NewInt(int64(m.Finality))))},
	}
}

func mintedLog(d cctp.Domain, to chain.Address, amount, fee money.Amount) chain.Log {
	token := chain.CanonicalAddress(chain.EVM, d.Token.Ref)
	return chain.Log{
		Address: d.Messenger, Data: append(numWord(amount), numWord(fee)...),
		Topics: []chain.Word{topic("MintAndWithdraw(address,uint256,address,uint256)"), asWord(to), asWord(token)},
	}
}

// message is what the wanted bridge's burn says.
func message() cctp.Message {
	return cctp.Message{
		Source: here.Number, Destination: there.Number, Sender: asWord(here.Messenger), To: asWord(there.Messenger), MinFinality: cctp.Standard,
		Token: asWord(chain.CanonicalAddress(chain.EVM, here.Token.Ref)), Recipient: asWord(bob), Amount: n(500), Depositor: asWord(alice), MaxFee: n(5),
		Hook: wanted.Tag[:],
	}
}

func changed(f func(m *cctp.Message)) []byte {
	m := message()
	f(&m)
	return m.Bytes()
}

func receipt(logs ...chain.Log) chain.Receipt {
	for i := range logs {
		logs[i].Index = uint64(i)
	}
	return chain.Receipt{Tx: "0xabc", Fate: chain.Final, Logs: logs}
}

func TestABurnIsReadOutOfAHostileReceipt(t *testing.T) {
	t.Parallel()
	good := message().Bytes()
	minter := canonical(common.HexToAddress("0x99"))
	left := tokenLog(here, alice, minter, n(500))
	foreign := func(l chain.Log) chain.Log { l.Address = canonical(common.HexToAddress("0xbad")); return l }
	cut := func(l chain.Log) chain.Log { l.Data = l.Data[:40]; return l }
	for name, c := range map[string]struct {
		logs []chain.Log
		err  error
	}{
		"as it should be": {[]chain.Log{left, sentLog(here, good)}, nil},
		"among many": {[]chain.Log{
			tokenLog(here, bob, minter, n(7)), left, sentLog(here, []byte("hello")), sentLog(here, changed(func(m *cctp.Message) { m.Amount, m.Depositor = n(7), asWord(bob) })),
			sentLog(here, good), foreign(sentLog(here, good)),
		}, nil},
		"with more left":            {[]chain.Log{left, left, sentLog(here, good)}, nil},
		"nothing":                   {nil, cctp.ErrNoBurn},
		"said by another":           {[]chain.Log{left, foreign(sentLog(here, good))}, cctp.ErrNoBurn},
		"another token left":        {[]chain.Log{foreign(left), sentLog(here, good)}, cctp.ErrNoBurn},
		"nothing left":              {[]chain.Log{sentLog(here, good)}, cctp.ErrNoBurn},
		"another's left":            {[]chain.Log{tokenLog(here, bob, minter, n(500)), sentLog(here, good)}, cctp.ErrNoBurn},
		"less left":                 {[]chain.Log{tokenLog(here, alice, minter, n(499)), sentLog(here, good)}, cctp.ErrNoBurn},
		"left once, said twice":     {[]chain.Log{left, sentLog(here, good), sentLog(here, good)}, cctp.ErrNoBurn},
		"twice":                     {[]chain.Log{left, sentLog(here, good), left, sentLog(here, good)}, cctp.ErrAmbiguous},
		"cut off":                   {[]chain.Log{left, cut(sentLog(here, good))}, errAny},
		"a short message":           {[]chain.Log{left, sentLog(here, good[:300])}, cctp.ErrNoBurn},
		"another version":           {[]chain.Log{left, sentLog(here, append([]byte{0, 0, 0, 0}, good[4:]...))}, cctp.ErrNoBurn},
		"sent by no messenger":      {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Sender = asWord(bob) }))}, cctp.ErrNoBurn},
		"for no messenger":          {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.To = asWord(bob) }))}, cctp.ErrNoBurn},
		"from another domain":       {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Source = 3 }))}, cctp.ErrNoBurn},
		"to another domain":         {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Destination = 3 }))}, cctp.ErrNoBurn},
		"of another token":          {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Token = asWord(bob) }))}, cctp.ErrNoBurn},
		"to another":                {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Recipient = asWord(alice) }))}, cctp.ErrNoBurn},
		"for a caller":              {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Caller = asWord(alice) }))}, cctp.ErrNoBurn},
		"a fast one":                {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.MinFinality = 1000 }))}, cctp.ErrNoBurn},
		"a higher fee":              {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.MaxFee = n(6) }))}, cctp.ErrNoBurn},
		"a lower fee":               {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.MaxFee = n(0) }))}, nil},
		"of another bridge":         {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Hook = make([]byte, 16) }))}, cctp.ErrNoBurn},
		"without a tag":             {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Hook = nil }))}, cctp.ErrNoBurn},
		"more":                      {[]chain.Log{tokenLog(here, alice, minter, n(501)), sentLog(here, changed(func(m *cctp.Message) { m.Amount = n(501) }))}, cctp.ErrNoBurn},
		"any, more":                 {[]chain.Log{tokenLog(here, alice, minter, n(501)), sentLog(here, changed(func(m *cctp.Message) { m.Amount = n(501) }))}, nil},
		"any, of another bridge":    {[]chain.Log{left, sentLog(here, changed(func(m *cctp.Message) { m.Hook = make([]byte, 16) }))}, cctp.ErrNoBurn},
		"by another, of as much":    {[]chain.Log{tokenLog(here, bob, minter, n(500)), sentLog(here, changed(func(m *cctp.Message) { m.Depositor = asWord(bob) }))}, cctp.ErrNoBurn},
		"a topic too many":          {[]chain.Log{left, func() chain.Log { l := sentLog(here, good); l.Topics = append(l.Topics, chain.Word{}); return l }()}, cctp.ErrNoBurn},
		"no topics":                 {[]chain.Log{left, func() chain.Log { l := sentLog(here, good); l.Topics = nil; return l }()}, cctp.ErrNoBurn},
		"a token that says nothing": {[]chain.Log{func() chain.Log { l := left; l.Data = nil; return l }(), sentLog(here, good)}, errAny},
	} {
		b := wanted
		b.Any = strings.HasPrefix(name, "any, ")
		got, err := cctp.FindBurn(receipt(c.logs...), b, here, there)
		switch {
		case c.err == nil && (err != nil || (got.Message.Amount != n(500) && !b.Any) || got.Tx != "0xabc" || got.Index == 0):
			t.Errorf("%s: got %+v, %v", name, got, err)
		case c.err != nil && (err == nil || !errors.Is(c.err, errAny) && !errors.Is(err, c.err)):
			t.Errorf("%s: got %+v, %v, want %v", name, got, err, c.err)
		}
	}
}

// errAny stands for an error of which it does not matter which.
var errAny = errors.New("any")

// handed is the wanted bridge's message as it is handed in.
func handed() cctp.Message {
	m := message()
	m.Nonce, m.Finality, m.Fee = chain.Word{9}, cctp.Standard, n(2)
	return m
}

func TestAMintIsReadOutOfAHostileReceipt(t *testing.T) {
	t.Parallel()
	none := canonical(common.Address{})
	m := handed()
	came, said, received := tokenLog(there, none, bob, n(498)), mintedLog(there, bob, n(498), n(2)), receivedLog(there, m)
	fee := tokenLog(there, none, alice, n(2))
	other := m
	other.Nonce, other.Amount, other.Hook = chain.Word{8}, n(70), nil
	before := []chain.Log{tokenLog(there, none, bob, n(68)), mintedLog(there, bob, n(68), n(2)), receivedLog(there, other)}
	foreign := func(l chain.Log) chain.Log { l.Address = canonical(common.HexToAddress("0xbad")); return l }
	body := m
	body.Hook = []byte("another tag of16")
	sender := m
	sender.Sender = asWord(bob)
	elsewhere := m
	elsewhere.Source = 3
	const no, yes, trouble = 0, 1, 2
	for name, c := range map[string]struct {
		logs []chain.Log
		want int
	}{
		"as it should be":            {[]chain.Log{came, fee, said, received}, yes},
		"after another":              {append(append([]chain.Log{}, before...), came, said, received), yes},
		"before another":             {append([]chain.Log{came, said, received}, before...), yes},
		"nothing":                    {nil, no},
		"another alone":              {before, no},
		"received by a stranger":     {[]chain.Log{came, said, foreign(received)}, no},
		"of another domain":          {[]chain.Log{came, said, receivedLog(there, elsewhere)}, no},
		"not minted":                 {[]chain.Log{received}, trouble},
		"minted by the one before":   {append(append([]chain.Log{came, said}, before[2]), received), trouble},
		"the token says nothing":     {[]chain.Log{said, received}, trouble},
		"the messenger says nothing": {[]chain.Log{came, received}, trouble},
		"said by a stranger":         {[]chain.Log{came, foreign(said), received}, trouble},
		"another token":              {[]chain.Log{foreign(came), said, received}, trouble},
		"moved and not minted":       {[]chain.Log{tokenLog(there, alice, bob, n(498)), said, received}, trouble},
		"to another":                 {[]chain.Log{tokenLog(there, none, alice, n(498)), mintedLog(there, alice, n(498), n(2)), received}, trouble},
		"less":                       {[]chain.Log{tokenLog(there, none, bob, n(497)), mintedLog(there, bob, n(497), n(2)), received}, trouble},
		"a higher fee":               {[]chain.Log{tokenLog(there, none, bob, n(497)), mintedLog(there, bob, n(497), n(3)), received}, trouble},
		"twice":                      {[]chain.Log{came, said, said, received}, trouble},
		"of another body":            {[]chain.Log{came, said, receivedLog(there, body)}, trouble},
		"of another sender":          {[]chain.Log{came, said, receivedLog(there, sender)}, trouble},
		"cut off":                    {[]chain.Log{came, said, func() chain.Log { l := received; l.Data = l.Data[:50]; return l }()}, trouble},
	} {
		got, ok, err := cctp.FindMint(receipt(c.logs...), m, there)
		switch {
		case c.want == yes && (err != nil || !ok || got.Amount != n(498) || got.Fee != n(2) || got.Tx != "0xabc"),
			c.want == no && (err != nil || ok), c.want == trouble && err == nil:
			t.Errorf("%s: got %+v, %t, %v", name, got, ok, err)
		}
	}
}

// Anybody may hand a message in, also code that runs in a swap of ours: what is minted to
// us there is counted for the swap, and must not be counted once more.
func TestAMintInsideAnotherTransactionOfOursIsNotCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		recipient, from, to chain.Address
		counted             bool
	}{
		"by us":                          {there.Own, there.Own, there.Transmitter, true},
		"by somebody":                    {there.Own, alice, there.Transmitter, true},
		"by somebody's contract":         {there.Own, alice, bob, true},
		"in another transaction of ours": {there.Own, there.Own, bob, false},
		"there, for somebody":            {bob, there.Own, alice, true},
	} {
		m := message()
		m.Recipient, m.Nonce = asWord(c.recipient), chain.Word{7}
		r := receipt(tokenLog(there, chain.CanonicalAddress(chain.EVM, "0x0000000000000000000000000000000000000000"), c.recipient, n(500)), mintedLog(there, c.recipient, n(500), n(0)), receivedLog(there, m))
		r.From, r.To = c.from, c.to
		got, ok, err := cctp.FindMint(r, m, there)
		if c.counted && (err != nil || !ok || got.Amount != n(500)) || !c.counted && err == nil {
			t.Errorf("%s: %+v, %t, %v", name, got, ok, err)
		}
	}
}
