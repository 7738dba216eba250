import { it } from "vitest";
import { readProxySettings, readStoreFlags } from "../../src/config/options.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { expectTold } from "../support/tell.ts";

const ENV = { PASSWORD: "p@ss/w:ord%", STORE: "rediss://alice:p%40ss@cache.example/2" };
const readFile = (path: string): string => {
  throw new Error(`no file ${path}`);
};

/** `store [--store URL] [--cluster NAME] [VARIABLE=…]`, `proxy VARIABLE=…`, or a line of chains.yaml: what is read of it. */
function read(line: string): unknown {
  const [verb = "", ...words] = line.split(" ");
  const variables: Record<string, string> = Object.fromEntries(
    words.map((word) => [word.replace(/=.*/, ""), word.replace(/.*?=/, "")]),
  );
  if (verb === "proxy") {
    return readProxySettings(variables);
  }
  if (verb === "store") {
    const [, store] = /--store (.*?)(?: --| \w+=|$)/.exec(line) ?? [];
    const [, cluster] = /--cluster (\S+)/.exec(line) ?? [];
    const flags = {
      ...(store === undefined ? {} : { store }),
      ...(cluster === undefined ? {} : { cluster }),
    };
    return readStoreFlags(flags, { env: { ...ENV, ...variables }, readFile });
  }
  const fleet = `chains: { base: { id: 1 } }\nprotocols: { a: [{ variant: v, url: "http://h", chains: [base] }] }\n`;
  const config = parseConfig(`version: 1\n${line}\n${fleet}`, { file: "chains.yaml", env: {}, readFile });
  return [config.poll.timeoutMs, config.poll.maxResponseBytes, `${config.listen.host} ${config.listen.port}`];
}

it("reads the quantities, addresses, stores and proxies of test/fixtures/config/values.txt, or says what is wrong", async () => {
  await expectTold("test/fixtures/config/values.txt", () => ({
    do: (line) => {
      try {
        return [JSON.stringify(read(line))];
      } catch (error) {
        return [String(error)];
      }
    },
  }));
});
