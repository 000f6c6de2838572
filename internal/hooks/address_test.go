package hooks_test

import (
	"net/netip"
	"strings"
	"testing"

	"ferry/internal/hooks"
)

func TestAddressesOutsideThePublicInternetAreRefused(t *testing.T) {
	t.Parallel()
	for text, allowed := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "93.184.216.34": true, "172.15.255.255": true, "172.32.0.1": true, "100.63.255.255": true,
		"100.128.0.1": true, "169.253.1.1": true, "192.0.1.1": true, "198.17.1.1": true, "198.20.0.1": true, "223.255.255.254": true,
		"2606:4700:4700::1111": true, "2a00:1450:4001:81b::200e": true, "::ffff:8.8.8.8": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "10.255.255.255": false, "100.64.0.0": false, "100.100.100.200": false,
		"100.127.255.255": false, "127.0.0.1": false, "127.255.255.254": false, "169.254.0.1": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.0.0.1": false, "192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false,
		"192.168.0.1": false, "192.168.255.255": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.7": false,
		"203.0.113.7": false, "224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::7f00:1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false,
		"::ffff:0:7f00:1": false, "64:ff9b::7f00:1": false, "64:ff9b::808:808": false, "64:ff9b:1::1": false, "100::1": false,
		"2001::1": false, "2001:0:53aa:64c:0:0:80ff:fffe": false, "2001:10::1": false, "2001:20::1": false, "2001:db8::1": false,
		"2002:7f00:1::1": false, "2002:808:808::1": false, "3fff::1": false, "5f00::1": false, "fc00::1": false, "fd00::1": false,
		"fd00:ec2::254": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "ff02::1": false, "ff05::2": false,
	} {
		a, err := netip.ParseAddr(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := hooks.AllowedAddr(a); got != allowed {
			t.Errorf("%s is allowed: %t", text, got)
		}
		host := text
		if a.Is6() {
			host = "[" + strings.ReplaceAll(text, "%", "%25") + "]"
		}
		if err := hooks.CheckURL("https://"+host+"/x", false); (err == nil) != allowed {
			t.Errorf("https://%s: %v", host, err)
		}
	}
	if hooks.AllowedAddr(netip.Addr{}) {
		t.Error("no address is allowed")
	}
}

func TestURLsOfEndpoints(t *testing.T) {
	t.Parallel()
	long := "https://example.com/"
	long += strings.Repeat("x", hooks.MaxURL-len(long))
	for _, c := range []struct {
		url            string
		taken, devOnly bool
	}{
		{"https://example.com", true, false},
		{"https://example.com/hooks?token=1&x=y", true, false},
		{"https://example.com:443/", true, false},
		{"https://example.com:8443/", true, false},
		{"https://EXAMPLE.com./", true, false},
		{"https://xn--bcher-kva.example.org/", true, false},
		{"https://a_b.example.com/", true, false},
		{long, true, false},
		{long + "x", false, false},
		{"", false, false},
		{"shop.example.com/hooks", false, false},
		{"//example.com/hooks", false, false},
		{"http://example.com/", false, false},
		{"ftp://example.com/", false, false},
		{"file:///etc/passwd", false, false},
		{"gopher://example.com:1234/", false, false},
		{"https:example.com", false, false},
		{"https:///path", false, false},
		{"https://user@example.com/", false, false},
		{"https://user:pass@example.com/", false, false},
		{"https://example.com@127.0.0.1/", false, false},
		{"https://example.com/#here", false, false},
		{"https://example.com/#", false, false},
		{"https://example.com/a b", false, false},
		{"https://example.com/\r\nX: y", false, false},
		{"https://example.com\\@127.0.0.1/", false, false},
		{"https://exämple.com/", false, false},
		{"https://example.com:22/", false, false},
		{"https://example.com:80/", false, false},
		{"https://example.com:0/", false, false},
		{"https://example.com:/", false, false},
		{"https://example.com:0443/", false, false},
		{"https://example.com:65536/", false, false},
		{"https://example.com:x/", false, false},
		{"https://2130706433/", false, false},
		{"https://0x7f000001/", false, false},
		{"https://0177.0.0.1/", false, false},
		{"https://127.1/", false, false},
		{"https://0x7f.0.0.1/", false, false},
		{"https://1.2.3.4.5/", false, false},
		{"https://127.0.0.1./", false, false},
		{"https://[::]/", false, false},
		{"https://[::ffff:7f00:1]/", false, true},
		{"https://[fd00::1]/", false, false},
		{"https://169.254.169.254/latest/meta-data", false, false},
		{"https://metadata.google.internal/", false, false},
		{"https://printer.local/", false, false},
		{"https://router.lan/", false, false},
		{"https://x.home.arpa/", false, false},
		{"https://app.localhost/", false, false},
		{"https://singlelabel/", false, false},
		{"https://-a.example.com/", false, false},
		{"https://a..example.com/", false, false},
		{"https://.example.com/", false, false},
		{"https://" + strings.Repeat("a", 64) + ".example.com/", false, false},
		{"http://localhost:3000/hooks", false, true},
		{"http://127.0.0.1:3000/hooks", false, true},
		{"http://[::1]:3000/hooks", false, true},
		{"https://localhost:3000/hooks", false, true},
		{"http://localhost:22/", false, false},
		{"http://10.0.0.1:3000/", false, false},
		{"http://localhost.example.com:3000/", false, false},
	} {
		if err := hooks.CheckURL(c.url, false); (err == nil) != c.taken {
			t.Errorf("%.80q: %v", c.url, err)
		} else if err != nil && len(c.url) > 12 && strings.Contains(err.Error(), c.url) {
			t.Errorf("%q is repeated: %v", c.url, err)
		}
		if err := hooks.CheckURL(c.url, true); (err == nil) != (c.taken || c.devOnly) {
			t.Errorf("for development: %.80q: %v", c.url, err)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"https://example.com/x", "https://[::1]/", "https://0x7f.1/", "http://localhost:1/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if hooks.CheckURL(text, false) == nil && !strings.HasPrefix(strings.ToLower(text), "https://") {
			t.Errorf("%q is taken", text)
		}
	})
}
