import { argv, stdout } from "node:process";
import { readProxySettings } from "../../src/config/options.ts";
import { clientOf } from "./client-of.ts";

// Posts to each URL of the command line and writes what came of it as JSON. A process of its own, because Node
// reads the authorities that it trusts besides its own (NODE_EXTRA_CA_CERTS) only at its start.

const client = clientOf({
  // Only a test starts this file as a process of its own.
  // biome-ignore lint/style/noProcessEnv: it stands in for main.ts.
  proxy: readProxySettings(process.env),
});
const results: unknown[] = [];
for (const url of argv.slice(2)) {
  results.push(await client.post({ url, headers: {}, body: {} }));
}
await client[Symbol.asyncDispose]();
stdout.write(JSON.stringify(results));
