package cctp_test

import (
	"bytes"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/venue/cctp"
)

// Whatever bytes come from a chain or a service: they are read and written alike, or
// refused, and signatures never break the reader.
func FuzzMessage(f *testing.F) {
	f.Add(hexutil.MustDecode(worldMessage), hexutil.MustDecode(worldAttestation))
	f.Add(hexutil.MustDecode(fastMessage), hexutil.MustDecode(fastAttestation))
	f.Add(hexutil.MustDecode(otherMessage), []byte{})
	f.Fuzz(func(t *testing.T, message, attestation []byte) {
		if m, err := cctp.ParseMessage(message); err == nil && !bytes.Equal(m.Bytes(), message) {
			t.Errorf("%x is written as %x", message, m.Bytes())
		}
		if got, err := cctp.Signers(cctp.Attested{Message: message, Attestation: attestation}); err == nil && len(got)*65 != len(attestation) {
			t.Errorf("%d signers of %d bytes", len(got), len(attestation))
		}
	})
}
