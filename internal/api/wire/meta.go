package wire

// Health is the answer of the liveness probe.
type Health struct {
	Status string `json:"status" enum:"ok" doc:"Always ok; a process that is not does not answer." example:"ok"`
}

// Version is what runs and what it speaks.
type Version struct {
	Version       string         `json:"version" doc:"Version of the build." example:"1.4.0"`
	Revision      string         `json:"revision" doc:"Source revision of the build; empty if unknown." example:"4f2c1e9"`
	Contracts     Contracts      `json:"contracts"`
	QuoteKey      string         `json:"quoteKey" doc:"The ed25519 key that quotes are signed with. The text of a quote is the line ferry-quote-v1 and then one line name=value each for quoteId, side, rateMode, fromChainId, fromToken, fromAmount, toChainId, toToken, toAmount, minToAmount, maxFromAmount, integratorFeePercent, payoutAddress and expiresAt, as the quote shows them, empty where it shows none, all ended by a line feed. Its digest is the SHA-256 of a byte 0 and the text. PATH, where the signature has one, is base64 of one to six digests of 32 bytes. With each in order the digest becomes the SHA-256 of a byte 1 and both, its own before that of PATH, or behind it where that bit of the number TURNS, from the lowest on, is set. What is signed is the line ferry-quotes-root-v1, ended by a line feed, and then the 32 bytes of the digest." minLength:"0" example:"ed25519:bm90IGEgcmVhbCBvbmU"`
	RetiredFields []RetiredField `json:"retiredFields" doc:"Names that bodies no longer accept."`
	Deprecations  []Deprecation  `json:"deprecations" doc:"Operations and fields that will go, at least 180 days ahead."`
}

// Contracts are the hashes of the published contracts; a client that generated code
// from one sees by it whether to do so again.
type Contracts struct {
	OpenAPI  string `json:"openapi" doc:"Hash of the document at /v2/docs." example:"sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"`
	AsyncAPI string `json:"asyncapi" doc:"Hash of the document at /v2/asyncapi." example:"sha256:1f0e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f1"`
}

// RetiredField is a name that is refused and the field that says the same.
type RetiredField struct {
	Name       string `json:"name" example:"to_address"`
	UseInstead string `json:"useInstead" example:"toAddress"`
}

// Deprecation is something that will go.
type Deprecation struct {
	What     string `json:"what" doc:"The operation or field." example:"POST /v2/quotes: slippagePercent"`
	SunsetAt Time   `json:"sunsetAt" doc:"When it stops working." example:"2027-01-01T00:00:00.000Z"`
	Note     string `json:"note" doc:"What to use instead." example:"Use maxSlippagePercent."`
}

// Catalogue is every code that a failure may carry.
type Catalogue struct {
	Errors       []Code   `json:"errors" doc:"Codes of refused requests."`
	FailureCodes []string `json:"failureCodes" doc:"Codes in failure.code of an order." example:"[\"slippage_exceeded\"]"`
	SocketCodes  []string `json:"socketCodes" doc:"Further codes in error messages of the live socket." example:"[\"unknown_channel\"]"`
}

// Refusal is the body of every failure, after RFC 9457.
type Refusal struct {
	Type              string         `json:"type" doc:"Reference to the code in the catalogue." example:"/v2/errors#quote_expired"`
	Title             string         `json:"title" doc:"The code in words." example:"Quote expired"`
	Status            int            `json:"status" doc:"The HTTP status." example:"409"`
	Code              string         `json:"code" doc:"The stable code, by which clients decide." example:"quote_expired"`
	Detail            string         `json:"detail" doc:"What is wrong and what to do next, for people." example:"The quote is past its expiresAt. Ask for a new one."`
	RequestID         string         `json:"requestId,omitzero" doc:"The request's id, to name it to the operator; left out of order_not_found, whose body is constant." example:"req_0123456789ABCDEFGHJKMNPQRS"`
	Retryable         bool           `json:"retryable" doc:"Whether the same request may succeed later." example:"false"`
	Actor             string         `json:"actor,omitzero" enum:"caller,end_user,operator,nobody" doc:"Who can do something about it." example:"caller"`
	RetryAfterSeconds *int           `json:"retryAfterSeconds,omitzero" doc:"How long to wait, as in Retry-After." example:"12"`
	Errors            []Problem      `json:"errors,omitzero" doc:"Everything that is wrong with the request, if it is invalid."`
	Details           map[string]any `json:"details,omitzero" doc:"Further facts that belong to the code."`
}

// OrderNotFoundDetail is the detail of order_not_found, which never varies.
const OrderNotFoundDetail = "No such order, or no access to it."
