package hooks

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// MaxURL is how many bytes the address of an endpoint may have.
const MaxURL = 2048

// Refusals of addresses. None repeats what was sent.
var (
	errURLLength = errors.New("must have at most 2048 bytes")
	errURLForm   = errors.New("must be an absolute URL such as https://example.com/hooks, without user, password and fragment")
	errURLScheme = errors.New("must begin with https://")
	errURLPort   = errors.New("must be on port 443, or on 1024 or above")
	errURLHost   = errors.New("must have a host name of the public Internet")
)

// CheckURL refuses an address that nothing may be sent to, as far as its text says.
// Where a name leads to is seen when it is dialled. Loopback allows this machine, also
// without TLS: for development.
func CheckURL(text string, loopback bool) error {
	if len(text) > MaxURL {
		return errURLLength
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Host == "" || u.User != nil || u.Fragment != "" || strings.Contains(text, "#") ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return errURLForm
	}
	host := u.Hostname()
	here := loopback && isHere(host)
	if u.Scheme != "https" && !(here && u.Scheme == "http") {
		return errURLScheme
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || strconv.FormatUint(n, 10) != port || !AllowedPort(uint16(n)) {
			return errURLPort
		}
	}
	if here {
		return nil
	}
	return checkHost(host)
}

// AllowedPort reports whether something may be sent to a port: below 1024 are services
// that no webhook is.
func AllowedPort(n uint16) bool { return n == 443 || n >= 1024 }

func isHere(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Zone() == "" && a.Unmap().IsLoopback()
}

// innerNames are names that never lead to the public Internet.
var innerNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa", "onion", "test", "invalid"}

// checkHost wants a public address, or a name of at least two labels whose last is no
// number: some resolvers take 2130706433 and 0177.1 for addresses.
func checkHost(host string) error {
	if a, err := netip.ParseAddr(host); err == nil {
		if !AllowedAddr(a) {
			return errURLHost
		}
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	labels := strings.Split(name, ".")
	if len(name) > 253 || len(labels) < 2 {
		return errURLHost
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return errURLHost
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return errURLHost
	}
	for _, inner := range innerNames {
		if name == inner || strings.HasSuffix(name, "."+inner) {
			return errURLHost
		}
	}
	return nil
}

// special are the networks of the public ranges that are for something else: what the
// registries of special-purpose addresses list, and multicast.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

// globalIPv6 is where all public addresses of IPv6 are: outside are loopback, mapped and
// translated IPv4, link-local, unique local and multicast ones.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, t := range texts {
		all = append(all, netip.MustParsePrefix(t))
	}
	return all
}

// AllowedAddr reports whether something may be sent to an address: only to those of the
// public Internet. An IPv4 address inside an IPv6 one counts as itself.
func AllowedAddr(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is6() && !globalIPv6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
