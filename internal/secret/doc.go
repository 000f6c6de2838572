// Package secret holds texts that must never be seen: keys, sessions, tokens.
// It guarantees that one which ends up in a log, an error or a JSON body, however
// deep inside another value, is written as [redacted].
package secret
