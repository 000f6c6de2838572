// Package post posts webhooks over HTTPS, signed by the Standard Webhooks scheme.
//
// It guarantees that nothing is sent to an address that is not of the public Internet:
// the address is looked at when it is dialled, after the name was resolved, so a name
// that leads elsewhere the second time leads nowhere. It follows no redirect, uses no
// proxy of the environment, and takes no more of an answer than it has to. It must never
// keep or log what was answered, nor a secret.
package post
