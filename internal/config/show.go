package config

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// String is the effective configuration as TOML, without secrets.
func (c Config) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("[database]\nurl = %s\n", quote(c.Database.Redacted()))
	line("[caps]\nperHourUsd = %q\nperPaymentUsd = %q\n", c.Caps.PerHour, c.Caps.PerPayment)
	p := c.Orders.Patience
	line("[orders]\nfunding = %q\nconfirming = %q\nexecuting = %q\nsending = %q\nheld = %q\nrefunding = %q\nrecovery = %q",
		c.Orders.Funding, p.Confirming, p.Executing, p.Sending, p.Held, p.Refunding, p.Recovery)
	for _, ch := range c.Chains {
		assets := make([]string, len(ch.Assets))
		for i, a := range ch.Assets {
			_, ref, _ := strings.Cut(a.String(), "/")
			assets[i] = quote(ref)
		}
		line("\n[[chains]]\nid = %q\nfamily = %q\nkind = %q\nassets = [%s]\nfinalDepth = %d\ntiers = [",
			ch.ID, ch.Family, ch.Kind, strings.Join(assets, ", "), ch.FinalDepth)
		for _, t := range ch.Tiers {
			fields := []string{fmt.Sprintf("confirmations = %d", t.Confirmations)}
			if t.UpTo > 0 {
				fields = append([]string{fmt.Sprintf("upToUsd = %q", t.UpTo)}, fields...)
			}
			if t.Finalized {
				fields = append(fields, "finalized = true")
			}
			line("  {%s},", strings.Join(fields, ", "))
		}
		line("]")
	}
	for _, o := range c.Operators {
		line("\n[[operators]]\nname = %s\ntokenSha256 = %q", quote(o.Name), hex.EncodeToString(o.Digest[:]))
	}
	return b.String()
}

// quote writes a TOML string. The reader lets no control characters through, so
// only the backslash and the quote need care.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
