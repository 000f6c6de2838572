package market_test

import (
	"reflect"
	"strings"
	"testing"

	"ferry/internal/integrator"
	"ferry/internal/market"
)

func integratorID(s string) integrator.ID { return integrator.ID(s) }

func TestASignatureVouchesForEveryTerm(t *testing.T) {
	t.Parallel()
	s, err := market.NewSigner(hexSecret(1))
	if err != nil {
		t.Fatal(err)
	}
	_, o := offered(t)
	p := o.Public("quo_x")
	sig, err := s.Sign(p)
	if err != nil || !strings.HasPrefix(sig, "ed25519:") || !strings.HasPrefix(s.PublicKey(), "ed25519:") {
		t.Fatalf("got %q and %q, %v", sig, s.PublicKey(), err)
	}
	if !market.Verify(s.PublicKey(), p, sig) {
		t.Fatal("a good signature is refused")
	}
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		was := v.Field(i).String()
		if was == "" {
			t.Errorf("%s is empty and was not tried", v.Type().Field(i).Name)
		}
		v.Field(i).SetString(was + "1")
		if market.Verify(s.PublicKey(), p, sig) {
			t.Errorf("%s is not vouched for", v.Type().Field(i).Name)
		}
		v.Field(i).SetString("a\nb=c")
		if _, err := s.Sign(p); err == nil {
			t.Errorf("%s with a line break was signed", v.Type().Field(i).Name)
		}
		v.Field(i).SetString(was)
	}
	other, err := market.NewSigner(hexSecret(2))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{other.PublicKey(), sig},
		{s.PublicKey(), ""},
		{s.PublicKey(), "ed25519:"},
		{s.PublicKey(), strings.TrimPrefix(sig, "ed25519:")},
		{s.PublicKey(), sig + "A"},
		{"", sig},
		{"ed25519:AAAA", sig},
	} {
		if market.Verify(c[0], p, c[1]) {
			t.Errorf("%q under %q was taken", c[1], c[0])
		}
	}
}

func TestTheCanonicalTextIsOneLineForEachTerm(t *testing.T) {
	t.Parallel()
	_, o := offered(t)
	text, err := o.Public("quo_x").Canonical()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"ferry-quote-v1", "quoteId=quo_x", "side=from", "rateMode=float", "fromChainId=bip122:a", "fromToken=native", "fromAmount=10000000",
		"toChainId=eip155:1", "toToken=usdc", "toAmount=9848500000", "minToAmount=9799257500", "maxFromAmount=10000000",
		"integratorFeePercent=1", "payoutAddress=bc1qfee", "expiresAt=2026-01-02T03:05:05.678Z", "",
	}, "\n")
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
