// A stranger's program: it knows the generated types and nothing else of Ferry.
// Type-checking it is half of the test; the other half is that it works.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Order = components["schemas"]["Order"];

declare const process: { argv: string[]; exitCode: number; stdout: { write(text: string): void }; stdin: AsyncIterable<unknown> };

const [api, key] = process.argv.slice(2);
if (!api || !key) throw new Error("usage: client.js API KEY");

const ferry = createClient<paths>({ baseUrl: api, headers: { "X-Integrator-Key": key } });

/** The data of an answer, or an error that says the code of the refusal. */
function must<T>(answer: { data?: T; error?: { code: string; detail: string }; response: Response }): T {
  if (answer.data !== undefined) return answer.data;
  throw new Error(`${answer.response.status} ${answer.error?.code}: ${answer.error?.detail}`);
}

const { data: chains } = await ferry.GET("/v2/chains");
const from = chains?.chains.find((c) => c.chainId === "bitcoin");
const to = chains?.chains.find((c) => c.chainId === "solana");
if (!from?.enabled || !to?.enabled) throw new Error("the chains are not served");

const quote = must(
  await ferry.POST("/v2/quotes", {
    body: {
      fromChainId: from.chainId,
      fromToken: from.nativeToken.token,
      toChainId: to.chainId,
      toToken: to.nativeToken.token,
      amount: "1000000",
    },
  }),
);

const made = must(
  await ferry.POST("/v2/orders", {
    params: { header: { "Idempotency-Key": `ts-${quote.createdAt}` } },
    body: {
      quoteId: quote.quoteId,
      toAddress: "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs",
      refundAddress: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080",
      clientReference: "typescript",
    },
  }),
);
if (!made.sessionId) throw new Error("the order came without its session");
const headers = { "X-Session-ID": made.sessionId };

const read = async (): Promise<Order> =>
  must(await ferry.GET("/v2/orders/{orderId}", { params: { path: { orderId: made.orderId } }, headers }));

const before = await read();
if (before.status !== "awaiting_deposit" || before.sessionId !== undefined) {
  throw new Error(`the new order is ${before.status}`);
}

// A wrong proof is refused with the code that the contract lists.
const refused = await ferry.GET("/v2/orders/{orderId}", {
  params: { path: { orderId: made.orderId } },
  headers: { "X-Session-ID": "wrong" },
});
if (refused.error?.code !== "order_not_found") throw new Error("a wrong session was not refused");

// Whoever runs this pays the order now, and says so with a line.
process.stdout.write(`${made.orderId}\n`);
for await (const _ of process.stdin) break;

const deadline = Date.now() + 60_000;
let now = await read();
while (!now.terminal && Date.now() < deadline) {
  await new Promise((r) => setTimeout(r, 500));
  now = await read();
}
const payout = now.payouts[0];
if (now.status !== "completed" || !payout?.txHash) throw new Error(`the order is ${now.status}`);
process.stdout.write(`${now.status} ${now.to.amountDecimal} ${now.to.symbol}\n`);
