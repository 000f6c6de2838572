package cctp_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/testseed"
	"ferry/internal/venue/cctp"
)

// Messages of the world with what Circle's attesters signed: 19,500 dollars from Base to
// Ethereum by a standard transfer, and one dollar from Base to Avalanche by a fast one,
// whose fee and expiry are filled in. The third is no burn's.
const (
	worldMessage = "0x000000010000000600000000d4d6513acd76814050d26dfd9de17d316b1f3dd807b6ca2cf1a5c4730934aac7" +
		"00000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d00000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d" +
		"0000000000000000000000000000000000000000000000000000000000000000000007d0000007d0" +
		"00000001000000000000000000000000833589fcd6edb6e08f4c7c32d4f71b54bda029130000000000000000000000006778b84d06804ecc154998b3fc73e557a4f1062d" +
		"000000000000000000000000000000000000000000000000000000048a4a6300000000000000000000000000b3fa262d0fb521cc93be83d87b322b8a23daf3f0" +
		"0000000000000000000000000000000000000000000000000000000000000000" +
		"0000000000000000000000000000000000000000000000000000000000000000" +
		"0000000000000000000000000000000000000000000000000000000000000000"
	worldAttestation = "0xfd1600ee1ea6be508c1153795b1b36441d01eec5c1714bf445be9fa9a76466442eb01dabeaa8b4c2ce19c82948c446f51b59b66d2adc30301fc8b0dc88c96c491b" +
		"6e6422887a5d513c571ffeb5ec0577a20785924d56907701d7f869d21a6ecc305c4694379da04b4c87bc14b0e35f54b1c83747486401993010952c37da56a8311c"

	fastMessage = "0x000000010000000600000001be761cca8a69cb0e710f3c765ca929dacd58ab31238952b2889b406f6406866b" +
		"00000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d00000000000000000000000028b5a0e9c621a5badaa536219b3a228c8168cf5d" +
		"0000000000000000000000000000000000000000000000000000000000000000000001f4000003e8" +
		"00000001000000000000000000000000833589fcd6edb6e08f4c7c32d4f71b54bda029130000000000000000000000005c2632cedb167609c7f12e9bbfbc5665cfd66d40" +
		"00000000000000000000000000000000000000000000000000000000000f42400000000000000000000000005c2632cedb167609c7f12e9bbfbc5665cfd66d40" +
		"0000000000000000000000000000000000000000000000000000000000000064" +
		"0000000000000000000000000000000000000000000000000000000000000064" +
		"000000000000000000000000000000000000000000000000000000000388a9f0"
	fastAttestation = "0x16cb98f66ee534db19669a851eadc319a6da1070a8e8352cd7b6744aa7a6781a6d840dbbe1c69963f3d519bc0a8c1ed5ce5f649c86b4cad008cbca0d097a364a1c" +
		"121405ac78591a5e279311fe07cf1c0fb89e3ade79ae4082efe67a38be72d7e93854ee341ec9ff80bd87e884dfdc37b6803d0c40ac83a08b9220e26d20b3b6ff1b"

	otherMessage = "0x0000000100000006000000000384bc6f6bfe10f6df4967b6ad287d897ff729f0c7e43f73a1e18ab156e96bfb" +
		"0000000000000000000000008ebcca1066d15ad901927ab01c7c6d0b057bbd340000000000000000000000008ebcca1066d15ad901927ab01c7c6d0b057bbd34" +
		"00000000000000000000000030f8a2fc7d7098061c94f042b2e7e732f95af40f00000000000003e8000003f2" +
		"0000000300000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
)

func words(hexes ...string) []chain.Word {
	var out []chain.Word
	for _, h := range hexes {
		out = append(out, chain.Word(common.HexToHash(h)))
	}
	return out
}

func TestMessagesOfTheWorldAreRead(t *testing.T) {
	t.Parallel()
	w := words("0xd4d6513acd76814050d26dfd9de17d316b1f3dd807b6ca2cf1a5c4730934aac7", "0x28b5a0e9c621a5badaa536219b3a228c8168cf5d",
		"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "0x6778b84d06804ecc154998b3fc73e557a4f1062d", "0xb3fa262d0fb521cc93be83d87b322b8a23daf3f0")
	s := words("0xbe761cca8a69cb0e710f3c765ca929dacd58ab31238952b2889b406f6406866b", "0x5c2632cedb167609c7f12e9bbfbc5665cfd66d40")
	for name, c := range map[string]struct {
		text string
		want cctp.Message
	}{
		"standard": {worldMessage, cctp.Message{
			Source: 6, Destination: 0, Nonce: w[0], Sender: w[1], To: w[1], MinFinality: 2000, Finality: 2000,
			Token: w[2], Recipient: w[3], Amount: n(19_500_000_000), Depositor: w[4], Hook: []byte{},
		}},
		"fast": {fastMessage, cctp.Message{
			Source: 6, Destination: 1, Nonce: s[0], Sender: w[1], To: w[1], MinFinality: 500, Finality: 1000,
			Token: w[2], Recipient: s[1], Amount: n(1_000_000), Depositor: s[1], MaxFee: n(100), Fee: n(100), Expires: 59_288_048, Hook: []byte{},
		}},
	} {
		raw := hexutil.MustDecode(c.text)
		got, err := cctp.ParseMessage(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b money.Amount) bool { return a == b })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if !bytes.Equal(got.Bytes(), raw) {
			t.Errorf("%s: written as %x", name, got.Bytes())
		}
	}
	if _, err := cctp.ParseMessage(hexutil.MustDecode(otherMessage)); !errors.Is(err, cctp.ErrMessage) {
		t.Errorf("a message of another kind: %v", err)
	}
}

// Circle's attesters are the same for every message, so recovering them shows that what
// is hashed is what they sign.
func TestSignaturesOfTheWorldAreCircles(t *testing.T) {
	t.Parallel()
	circle := []common.Address{
		common.HexToAddress("0x52Ed4cBff8DcE6A19748043F3240ec03c834bCeF"), common.HexToAddress("0x725b06F73ff761eF5390e39315e2BfbF60d33F96"),
	}
	for message, attestation := range map[string]string{worldMessage: worldAttestation, fastMessage: fastAttestation} {
		a := cctp.Attested{Message: hexutil.MustDecode(message), Attestation: hexutil.MustDecode(attestation)}
		if got, err := cctp.Signers(a); err != nil || !cmp.Equal(got, circle) {
			t.Errorf("got %s, %v", got, err)
		}
		if m, err := cctp.ParseMessage(a.Message); err != nil || m.Hash() != chain.Word(crypto.Keccak256Hash(a.Message)) {
			t.Errorf("got %x, %v", m.Hash(), err)
		}
		a.Message[200] ^= 1
		if got, err := cctp.Signers(a); err == nil && cmp.Equal(got, circle) {
			t.Error("the signatures of one message are those of another")
		}
	}
}

func TestRandomBytesAreReadAndWrittenAlikeOrRefused(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	read, refused := 0, 0
	for range 20_000 {
		raw := make([]byte, r.IntN(500))
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		if len(raw) >= 376 && r.IntN(4) > 0 { // else hardly anything would be one
			copy(raw, []byte{0, 0, 0, 1})
			copy(raw[148:], []byte{0, 0, 0, 1})
			clear(raw[148+196 : 148+220])
		}
		m, err := cctp.ParseMessage(raw)
		if err != nil {
			refused++
			continue
		}
		if read++; !bytes.Equal(m.Bytes(), raw) {
			t.Fatalf("%x is written as %x", raw, m.Bytes())
		}
	}
	if read < 1000 || refused < 1000 {
		t.Errorf("%d were read and %d refused", read, refused)
	}
}
