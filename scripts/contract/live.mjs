// A stranger's program on the live socket: it knows the AsyncAPI document and nothing
// else of Ferry. Every message that it says and every one that it hears is held to the
// schema that the document has for it, while it follows an order to its end.
import { readFileSync } from "node:fs";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import WebSocket from "ws";

const [api, key, file] = process.argv.slice(2);
const doc = JSON.parse(readFileSync(file, "utf8"));
const [[, channel]] = Object.entries(doc.channels);

const ajv = new Ajv({ strict: false, allErrors: true, multipleOfPrecision: 8 });
addFormats(ajv);
ajv.addSchema({ components: doc.components }, "doc");
const validators = new Map(Object.keys(doc.components.messages).map((name) => [name, ajv.getSchema(`doc#/components/messages/${name}/payload`)]));
const told = new Map();
const must = (fact, words) => {
  if (!fact) throw new Error(words);
};

/** Whether a text is a message of this name. */
function is(name, value) {
  const valid = validators.get(name);
  must(valid, `the document has no message ${name}`);
  return valid(value) ? undefined : ajv.errorsText(valid.errors);
}

// Which messages the server sends, by the value that their type always has.
const fieldsOf = (name) => doc.components.schemas[doc.components.messages[name].payload.$ref.split("/").pop()].properties;
const typeOf = (name) => fieldsOf(name).type.enum[0];
const mayBe = (name, message) => typeOf(name) === message.type && (fieldsOf(name).event?.enum?.includes(message.event) ?? true);
const sends = Object.values(doc.operations)
  .filter((o) => o.action === "send")
  .map((o) => o.messages[0].$ref.split("/").pop());

/** The name that the document has for a message that was heard. */
function nameOf(message, followed) {
  const tells = channel["x-channels"].find((c) => c.name === followed)?.tells ?? [];
  const general = sends.filter((n) => !channel["x-channels"].some((c) => c.tells.includes(n)));
  const fit = [...tells, ...general].filter((n) => mayBe(n, message));
  must(fit.length === 1, `${message.event ?? message.type} on ${followed ?? "no channel"} may be ${fit.join(", ") || "nothing"}`);
  return fit[0];
}

/** A connection on which nothing is said or heard that the document does not allow. */
class Connection {
  #socket;
  #heard = [];
  #waiting = [];
  #followed = new Map(); // channels by subscription
  #next = 1;

  static async open(headers = {}) {
    const c = new Connection();
    const url = new URL(channel.address, api);
    url.protocol = "ws:";
    c.#socket = new WebSocket(url, channel["x-sub-protocol"], { headers });
    c.#socket.on("message", (text) => c.#hear(JSON.parse(text)));
    c.closed = new Promise((done) => c.#socket.on("close", done));
    await new Promise((open, fail) => c.#socket.on("open", open).on("error", fail));
    must(c.#socket.protocol === channel["x-sub-protocol"], `the server speaks ${c.#socket.protocol}`);
    return c;
  }

  #hear(message) {
    const name = nameOf(message, this.#followed.get(message.subscriptionId));
    const why = is(name, message);
    must(!why, `${name} is not what the document says: ${why}: ${JSON.stringify(message)}`);
    if (message.type === "subscribed") this.#followed.set(message.subscriptionId, message.channel);
    told.set(name, (told.get(name) ?? 0) + 1);
    const waiting = this.#waiting.shift();
    if (waiting) waiting(message);
    else this.#heard.push(message);
  }

  /** The next message, in the order in which they came. */
  async next() {
    if (this.#heard.length > 0) return this.#heard.shift();
    let timer;
    const late = new Promise((_, fail) => (timer = setTimeout(fail, 60_000, new Error("nothing was heard for a minute"))));
    try {
      return await Promise.race([new Promise((come) => this.#waiting.push(come)), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Says a message and gives its answer, which must be one that the document names. */
  async say(name, rest, { allowed = true } = {}) {
    const ref = doc.components.messages[name].payload.$ref.split("/").pop();
    const said = { id: `m${this.#next++}`, ...rest };
    for (const [field, p] of Object.entries(doc.components.schemas[ref].properties)) {
      if (p.enum?.length === 1) said[field] = p.enum[0];
    }
    const why = is(name, said);
    must(!why === allowed, `the document ${why ? `does not allow ${why}` : "allows"}: ${JSON.stringify(said)}`);
    told.set(name, (told.get(name) ?? 0) + 1);
    this.#socket.send(JSON.stringify(said));
    for (;;) {
      const answer = await this.next();
      if (answer.replyTo !== said.id) {
        must(answer.type === "event" || answer.type === "snapshot", `${answer.type} came instead of an answer`);
        continue;
      }
      const operation = Object.values(doc.operations).find((o) => o.action === "receive" && o.messages[0].$ref.endsWith(`/${name}`));
      const replies = operation.reply.messages.map((m) => typeOf(m.$ref.split("/").pop()));
      must(replies.includes(answer.type), `${name} was answered with ${answer.type}`);
      return answer;
    }
  }

  close() {
    this.#socket.close();
    return this.closed;
  }
}

async function post(path, body, headers = {}) {
  const answer = await fetch(api + path, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });
  const said = await answer.json();
  must(answer.ok, `${answer.status} ${said.code}: ${said.detail}`);
  return said;
}

const wanted = { fromChainId: "bitcoin", fromToken: "native", toChainId: "solana", toToken: "native", amount: "1000000" };
const quote = await post("/v2/quotes", wanted, { "X-Integrator-Key": key });
const made = await post(
  "/v2/orders",
  { quoteId: quote.quoteId, toAddress: "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs", refundAddress: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080" },
  { "X-Integrator-Key": key },
);
const params = { orderId: made.orderId, sessionId: made.sessionId };

// The owner comes without a key, the integrator shows its key in the upgrade, and a
// third one in hello, as a browser would.
let owner = await Connection.open();
const company = await Connection.open({ "X-Integrator-Key": key });
const greeted = await Connection.open();
must((await greeted.say("hello", { integratorKey: key })).type === "welcome", "hello was not welcome");
must((await owner.say("ping")).type === "pong", "ping was not answered");

// What the document does not allow is refused, and so is a wrong proof.
must((await owner.say("subscribeOrder", { params, surprise: 1 }, { allowed: false })).code === "unknown_field", "an unknown field was taken");
must((await owner.say("subscribeOrder", { params: { ...params, sessionId: "wrong" } })).code === "order_not_found", "a wrong session was not refused");
must((await owner.say("subscribeIntegratorOrders")).code === "key_required", "a channel for server keys was given to nobody in particular");

// Everything that can be followed, once.
const began = (await company.say("subscribeIntegratorOrders", { after: 0 })).seq;
must(began >= 1, "the integration's log is empty");
for (const [name, rest] of [
  ["subscribeSession", { params: { sessionId: made.sessionId } }],
  ["subscribeIntegratorUsage", {}],
  ["subscribeQuote", { params: wanted }],
  ["subscribeStatus", { params: { chainId: "bitcoin" } }],
]) {
  const answer = await greeted.say(name, rest);
  must(answer.type === "subscribed", `${name}: ${answer.code}`);
}

must((await owner.say("subscribeOrder", { params })).type === "subscribed", "the order cannot be followed");
const first = await owner.next();
must(first.type === "snapshot" && first.data.order.status === "awaiting_deposit", "the order did not come as it is");
let last = first.seq;

// Whoever runs this pays the order now, and says so with a line.
process.stdout.write(`${made.orderId}\n`);
for await (const _ of process.stdin) break;

const seen = [];
let order = first.data.order;
while (!order.terminal) {
  const m = await owner.next();
  if (m.type !== "event") continue;
  if (m.event === "order.confirmations") {
    // Of no log: it comes between the events that have numbers.
    must(m.seq === null && m.data.orderId === made.orderId && m.data.deposits.length > 0, `told of a payment in sight: ${JSON.stringify(m)}`);
    continue;
  }
  must(m.seq === last + 1 && m.data.order.version === m.seq, `after ${last} came ${m.seq}, with version ${m.data.order.version}`);
  ({ seq: last } = m);
  ({ order } = m.data);
  seen.push(m.event);
  if (seen.length === 1) {
    // The connection is lost, and another one goes on where it was.
    await owner.close();
    owner = await Connection.open();
    const again = await owner.say("subscribeOrder", { params, after: last });
    must(again.type === "subscribed" && again.seq === last + again.replayed, `asked for what is after ${last}, and got ${JSON.stringify(again)}`);
  }
}
must(order.status === "completed", `the order is ${order.status}`);

// The integrator heard of the same, by the numbers of its own log.
let number = 0;
for (let m; m?.data?.order.status !== "completed"; ) {
  m = await company.next();
  if (m.type !== "event") continue;
  must(m.seq === number + 1, `after ${number} of the integration came ${m.seq}`);
  number = m.seq;
  if (m.data.orderId !== made.orderId) m = undefined;
}

// The other channels told what they have to tell.
for (const name of ["sessionSnapshot", "statusSnapshot", "quoteEvent", "usageEvent"]) {
  while (!told.has(name)) await greeted.next();
}
must((await greeted.say("unsubscribe", { subscriptionId: "s1" })).type === "unsubscribed", "a subscription does not end");
await Promise.all([owner.close(), company.close(), greeted.close()]);
process.stdout.write(`${order.status} after ${seen.length} events, ${[...told.values()].reduce((a, b) => a + b)} messages of ${told.size} kinds as the document has them\n`);
