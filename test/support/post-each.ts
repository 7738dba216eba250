import { argv, stdout } from "node:process";
import { readProxySettings } from "../../src/config/options.ts";
import { clientOf } from "./client-of.ts";

// Posts to each URL of the command line and writes the results as JSON. It is a separate process, because Node
// reads NODE_EXTRA_CA_CERTS, the certificate authorities that it also trusts, only when it starts.

const client = clientOf({
  // Only a test starts this file, as a separate process.
  // biome-ignore lint/style/noProcessEnv: it replaces main.ts.
  proxy: readProxySettings(process.env),
});
const results: unknown[] = [];
for (const url of argv.slice(2)) {
  results.push(await client.post({ url, headers: {}, body: {} }));
}
await client[Symbol.asyncDispose]();
stdout.write(JSON.stringify(results));
