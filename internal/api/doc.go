// Package api is the HTTP door. One table of operations is the API: the matcher,
// the checks, the published contracts and the tests all read the same rows. To add
// an operation, add a row.
//
// It guarantees that the checks of a request run in one order for every row: path
// and method, size and form of the body, who asks, allowances, query, body, and only
// then the row's own work; that every answer has a request id and says how long it
// may be kept; that every refusal is one of the catalogue, with the same bytes for
// an order that is missing and one that may not be seen; and that a panic is a 500
// and a log entry, never a dead process. It must never log or repeat a query, a
// header, an address or a body, and it decides nothing about money.
package api
