// The contract of the live socket as the official parser of AsyncAPI reads it: no error
// and no warning. That there is a newer AsyncAPI is no fault of the document.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
const known = new Set(["asyncapi-latest-version"]);
const wrong = diagnostics.filter((d) => !known.has(d.code));
for (const d of wrong) console.error(`${d.code}: ${d.message} (/${d.path.join("/")})`);
if (!document || wrong.length > 0) throw new Error("the contract of the live socket is not sound");

const [messages, operations] = [document.allMessages().length, document.allOperations().length];
if (messages < 20 || operations < messages) throw new Error(`only ${messages} messages and ${operations} operations were found`);
console.log(`asyncapi.json: no complaint: ${document.version()}, ${messages} messages, ${operations} operations`);
