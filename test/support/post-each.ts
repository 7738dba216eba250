import { argv, stdout } from "node:process";
import { createHttpClient } from "../../src/io/http-client/client.ts";

// Posts to each URL of the command line and writes what came of it as JSON. A process of its own, because Node
// reads the authorities that it trusts besides its own (NODE_EXTRA_CA_CERTS) only at its start.

const client = createHttpClient({
  timeoutMs: 5_000,
  maxResponseBytes: 1_000,
  connectionsPerHost: 1,
  userAgent: "synclag/test",
  nowMs: Date.now,
});
const results: unknown[] = [];
for (const url of argv.slice(2)) {
  results.push(await client.post({ url, headers: {}, body: {} }));
}
await client[Symbol.asyncDispose]();
stdout.write(JSON.stringify(results));
