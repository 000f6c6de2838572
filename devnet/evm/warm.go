package evm

import (
	_ "github.com/ethereum/go-ethereum/eth"
	_ "github.com/ethereum/go-ethereum/eth/catalyst"
	_ "github.com/ethereum/go-ethereum/eth/filters"
	_ "github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native"
	_ "github.com/ethereum/go-ethereum/node"
)
