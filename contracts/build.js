// Compiles the contracts into the JSON files that the tree keeps: make contracts.
"use strict";
const fs = require("fs");
const path = require("path");
const solc = require("solc");

const root = path.resolve(__dirname, "..");
const jobs = [
  ["contracts/Sweeper.sol", "Sweeper", "internal/family/evm/contract"],
  ["contracts/TestToken.sol", "TestToken", "internal/family/evm/contract"],
  ["contracts/PriceFeed.sol", "PriceFeed", "internal/dev/contract"],
  ["contracts/Cctp.sol", "DevUSDC", "internal/devnet/cctp/contract"],
  ["contracts/Cctp.sol", "DevMessageTransmitter", "internal/devnet/cctp/contract"],
  ["contracts/Cctp.sol", "DevTokenMinter", "internal/devnet/cctp/contract"],
  ["contracts/Cctp.sol", "DevTokenMessenger", "internal/devnet/cctp/contract"],
  ["contracts/Multicall.sol", "Multicall", "internal/devnet/uniswap/contract"],
  ["contracts/test/Trick.sol", "Trick", "internal/family/evm/testdata"],
  ["contracts/test/LyingToken.sol", "LyingToken", "internal/family/evm/testdata"],
  ["contracts/test/Shop.sol", "Shop", "internal/family/evm/testdata"],
];

for (const [file, name, into] of jobs) {
  const input = {
    language: "Solidity",
    sources: { [file]: { content: fs.readFileSync(path.join(root, file), "utf8") } },
    settings: {
      evmVersion: "paris", // also for chains that lag behind Ethereum
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: "none", appendCBOR: false }, // the same bytes on every machine
      outputSelection: { "*": { [name]: ["abi", "evm.bytecode.object", "evm.deployedBytecode"] } },
    },
  };
  const out = JSON.parse(solc.compile(JSON.stringify(input)));
  for (const e of out.errors || []) {
    if (e.severity === "error") {
      console.error(e.formattedMessage);
      process.exit(1);
    }
  }
  const made = out.contracts[file][name];
  const kept = { abi: made.abi, code: "0x" + made.evm.bytecode.object };
  if (name === "Sweeper") {
    // What stands on the chain, and where its two constants are filled in, in the order
    // in which they are declared.
    const deployed = made.evm.deployedBytecode;
    const ids = Object.keys(deployed.immutableReferences).map(Number).sort((a, b) => a - b);
    kept.runtime = "0x" + deployed.object;
    kept.constants = ids.map((id) => deployed.immutableReferences[id].map((r) => r.start));
  }
  const text = JSON.stringify(kept, null, 1) + "\n";
  fs.writeFileSync(path.join(root, into, name + ".json"), text);
  console.log(`${name}: ${made.evm.bytecode.object.length / 2} bytes, solc ${solc.version()}`);
}
