package chain

// DepositKeys is the account of which every deposit address has an index.
const DepositKeys Account = "deposit"

// Key names one of our keys on a chain: that of an account, or of a deposit address
// by its index.
type Key struct {
	Account Account
	Index   uint32
}

// Paper is what a signer is asked to sign. It holds nothing that the signer would
// have to believe: the transaction is read again from its bytes.
type Paper struct {
	Chain ID
	// For is the transfer that the transaction is made for.
	For string
	// Cancel says that it pays nobody and only uses up the slot of the transfer.
	Cancel bool
	// Unsigned is the transaction in its family's own form without signatures: a
	// typed transaction (EVM), a PSBT with what each input spends (Bitcoin), a
	// transaction with empty signatures (Solana).
	Unsigned []byte
	// Keys sign it, in the family's order: of an EVM transaction its sender and then
	// whoever authorises, of Bitcoin one for each input, of Solana one for each signature.
	Keys []Key
}
