// Runs any number of Surfpool networks for whoever holds the other end of the pipes:
// one line of JSON is one wish, one line of JSON is its answer.
const { Surfnet } = require(process.argv.at(-1));
const nets = new Map();

function fulfil(wish) {
  if (wish.op === "start") {
    const net = Surfnet.startWithConfig(wish.config);
    nets.set(net.rpcUrl, net);
    return { rpc: net.rpcUrl };
  }
  const net = nets.get(wish.rpc);
  nets.delete(wish.rpc);
  if (net) net.stop();
  return {};
}

// A network tells what it does, and stands still once a thousand such things wait to be
// heard.
setInterval(() => nets.forEach((net) => net.drainEvents()), 20);

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const wish = JSON.parse(line);
    let said;
    try {
      said = fulfil(wish);
    } catch (e) {
      said = { error: String((e && e.message) || e) };
    }
    process.stdout.write(JSON.stringify({ id: wish.id, ...said }) + "\n");
  })
  .on("close", () => process.exit(0)); // the other end is gone, however it went
