// Quotes with @uniswap/v3-sdk for as many milliseconds as each line asks for, and says
// how many and in how many nanoseconds. The first line is the pools and what to ask of them.
"use strict";
const path = require("path");
const from = (name) => require(path.join(process.env.CACHE, "node_modules", name));
const { Pool, TickListDataProvider } = from("@uniswap/v3-sdk");
const { Token, CurrencyAmount } = from("@uniswap/sdk-core");

const zero = new Token(1, "0x0000000000000000000000000000000000000001", 18);
const one = new Token(1, "0x0000000000000000000000000000000000000002", 18);
let asks;
let at = 0;

const load = (pools) =>
  pools.map((p) => ({
    pool: new Pool(zero, one, p.fee, p.root, p.liquidity, p.tick, new TickListDataProvider(
      p.ticks.map((t) => ({ index: t.at, liquidityNet: t.net, liquidityGross: t.gross })), p.spacing)),
    amount: CurrencyAmount.fromRawAmount(p.down ? zero : one, p.amount),
    want: p.want,
  }));

const line = async (text) => {
  if (!asks) {
    asks = load(JSON.parse(text));
    for (const a of asks) {
      const [out] = await a.pool.getOutputAmount(a.amount);
      if (out.quotient.toString() !== a.want) throw new Error(`${out.quotient} and not ${a.want}`);
    }
    return console.log("ready");
  }
  const until = process.hrtime.bigint() + BigInt(text) * 1000000n;
  const start = process.cpuUsage();
  let n = 0;
  while (process.hrtime.bigint() < until) {
    const a = asks[at++ % asks.length];
    await a.pool.getOutputAmount(a.amount);
    n++;
  }
  const used = process.cpuUsage(start);
  console.log(`${n} ${(used.user + used.system) * 1000}`);
};

(async () => {
  for await (const text of require("readline").createInterface({ input: process.stdin })) await line(text);
})().catch((e) => { console.error(e); process.exit(1); });
