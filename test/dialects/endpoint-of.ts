import { parseConfig } from "../../src/config/parse.ts";
import type { Endpoint, Form, Target } from "../../src/core/model/fleet.ts";
import type { Reply } from "../../src/core/model/http-post.ts";
import { type Answer, interpretResult } from "../../src/daemon/polling/interpret-result.ts";
import type { Question } from "../../src/dialects/dialect.ts";

type AskedEndpoint = Pick<Endpoint, "key" | "kind" | "dialect" | "targets">;

/** What a poll makes of a reply. */
export function answerTo(endpoint: AskedEndpoint, question: Question, reply: Reply, nowMs: number): Answer {
  const result = { kind: "replied", reply, sentAtMs: nowMs, receivedAtMs: nowMs } as const;
  return interpretResult(endpoint, question, result, (text) => text).answer;
}

/** An endpoint that expects these chains, or an RPC node if the dialect is `rpc`. */
export function endpointOf(dialect: string, chainIds: readonly number[]): AskedEndpoint {
  return {
    key: "airdrops/multichain/production/all",
    kind: dialect === "rpc" ? "rpc" : "indexer",
    dialect,
    targets: chainIds.map(targetOf),
  };
}

/** A block `custom` of chains.yaml, as the configuration hands it to the dialect. */
export function formOf(custom: Readonly<Record<string, unknown>>): Form {
  const slugs = new Set(["chain-1", "chain-10", ...Object.values(custom["chains"] ?? {}).map(String)]);
  const chains = Object.fromEntries(Array.from(slugs, (slug, index) => [slug, { id: index + 1 }]));
  const indexer = { variant: "v", dialect: "custom", url: "http://a.example/{chain}", custom };
  const file = { version: 1, chains, protocols: { p: [{ ...indexer, chains: Object.keys(chains) }] } };
  const readFile = (path: string): string => {
    throw new RangeError(`Cannot read ${path}: the block names no file`);
  };
  const { fleet } = parseConfig(JSON.stringify(file), { file: "custom", env: {}, readFile });
  const form = fleet.indexers[0]?.endpoints[0]?.custom;
  if (form === undefined) {
    throw new RangeError("Cannot use the block: the endpoint has none");
  }
  return form;
}

function targetOf(chainId: number): Target {
  return {
    key: `airdrops/multichain/production/${chainId}`,
    protocol: "airdrops",
    variant: "multichain",
    tier: "production",
    chain: `chain-${chainId}`,
    chainId,
    explorer: null,
    playground: null,
    pollIntervalMs: 15_000,
  };
}
