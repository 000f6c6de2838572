package config

import (
	"net/url"
	"strings"
)

// howDatabase is what to write into database.url.
const howDatabase = `write "sqlite:ferry.db" or "postgres://user:password@host/name"`

func readDatabase(r *reader, t table) Database {
	address, ok := r.text(t, "url")
	if !ok {
		r.missing(t, "url", howDatabase)
		return Database{}
	}
	if why := badDatabase(address); why != "" {
		r.refuse(t.key("url"), "%s; %s", why, howDatabase)
	}
	return Database{URL: address}
}

// badDatabase says what is wrong with an address, never the address itself: it
// may hold a password.
func badDatabase(address string) string {
	if strings.ContainsFunc(address, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return "holds a character that no address has"
	}
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		path, query, _ := strings.Cut(rest, "?")
		if path == "" || strings.HasPrefix(path, "//") {
			return "names no file"
		}
		if strings.HasPrefix(path, ":memory:") {
			return "keeps nothing when the process ends"
		}
		options, err := url.ParseQuery(query)
		if err != nil {
			return "has options that cannot be read"
		}
		for name, values := range options {
			if name != "synchronous" || len(values) != 1 || (values[0] != "full" && values[0] != "extra") {
				return "has an option that is not synchronous=full or synchronous=extra"
			}
		}
		return ""
	case "postgres", "postgresql":
		u, err := url.Parse(address)
		switch {
		case err != nil || u.Opaque != "":
			return "is not a URL (a password with special characters must be percent-encoded)"
		case u.Host == "" && u.Query().Get("host") == "":
			return "names no host"
		case strings.Trim(u.Path, "/") == "" && u.Query().Get("dbname") == "" && u.Query().Get("database") == "":
			return "names no database"
		}
		return ""
	}
	return "is neither sqlite nor postgres"
}

// Redacted is the address without its secrets.
func (d Database) Redacted() string {
	if strings.HasPrefix(d.URL, "sqlite:") {
		return d.URL
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return "(hidden)"
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), hidden)
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(strings.ToLower(name), "pass") {
			q.Set(name, hidden)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

const hidden = "hidden"
