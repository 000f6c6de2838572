// What only server keys may know is not in the public contract: no path, no name of
// an operation and no schema that only those need.
import { readFileSync } from "node:fs";

const [openFile, hiddenFile] = process.argv.slice(2);
const text = readFileSync(openFile, "utf8");
const open = JSON.parse(text);
const hidden = JSON.parse(readFileSync(hiddenFile, "utf8"));

/** The schemas that a part of a document leads to. */
function reach(doc, part, found = new Set()) {
  for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reach(doc, doc.components.schemas[name], found);
  }
  return found;
}

const needed = reach(open, open.paths);
const secrets = Object.keys(hidden.paths);
for (const item of Object.values(hidden.paths)) for (const op of Object.values(item)) secrets.push(`"${op.operationId}"`);
for (const name of reach(hidden, hidden.paths)) if (!needed.has(name)) secrets.push(`"${name}"`, `/${name}"`);

const leaked = secrets.filter((secret) => text.includes(secret));
if (secrets.length < 5) throw new Error("the contract for server keys is nearly empty: nothing was looked for");
if (leaked.length > 0) throw new Error(`the public contract tells of ${leaked.join(", ")}`);
console.log(`nothing of ${secrets.length} hidden names is in the public contract`);
