package wire

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"ferry/internal/chain"
	"ferry/internal/order"
)

// Transaction is one that a wallet signs and sends. Which fields it has goes by family.
type Transaction struct {
	Family  string `json:"family" enum:"evm,solana" example:"evm"`
	ChainID string `json:"chainId" example:"ethereum"`
	// Of evm.
	EVMChainID int    `json:"evmChainId,omitzero" doc:"evm: the number that the wallet must be on." example:"1"`
	From       string `json:"from,omitzero" doc:"evm: who signs; absent where anybody may." example:"0x52908400098527886E0F7030069857D2E4169EE7"`
	To         string `json:"to,omitzero" doc:"evm: the contract that is called." example:"0x52908400098527886E0F7030069857D2E4169EE7"`
	Data       string `json:"data,omitzero" doc:"evm: calldata." example:"0x12ab"`
	Value      string `json:"value,omitzero" doc:"evm: coins that go with it, in the smallest unit." example:"1000000000000000000"`
	GasLimit   string `json:"gasLimit,omitzero" doc:"evm: enough on most networks; a wallet's own estimate is as good, and is to be used where this is absent." example:"150000"`
	// Of solana.
	Serialized string `json:"serialized,omitzero" maxLength:"2048" doc:"solana: the transaction with empty signatures, base64." example:"AQAA"`
	ValidTo    int    `json:"lastValidBlockHeight,omitzero" doc:"solana: it can land up to this block height; read the order again after it." example:"250000000"`
}

// Example is one of a family: no transaction has the fields of both.
func (Transaction) Example() any {
	return Transaction{
		Family: "evm", ChainID: "ethereum", EVMChainID: 1, From: "0x52908400098527886E0F7030069857D2E4169EE7",
		To: "0x52908400098527886E0F7030069857D2E4169EE7", Data: "0x12ab", Value: "1000000000000000000", GasLimit: "150000",
	}
}

func transactionOf(r chain.Request, o order.Order, v View) Transaction {
	on := v.Atlas.Of(o.Quote.Give.Chain)
	t := Transaction{Family: string(on.Family), ChainID: on.Slug}
	if len(r.Serialized) > 0 {
		t.Serialized, t.ValidTo = base64.StdEncoding.EncodeToString(r.Serialized), int(r.ValidTo) //nolint:gosec // a height
		return t
	}
	t.EVMChainID, t.From, t.To = int(on.EVMChainID), v.Show(on.ID, o.PayFrom), v.Show(on.ID, r.To) //nolint:gosec // a chain's number
	t.Data, t.Value, t.GasLimit = "0x"+hex.EncodeToString(r.Data), r.Value.String(), strconv.FormatUint(r.Gas, 10)
	return t
}
