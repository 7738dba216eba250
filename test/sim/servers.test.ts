import { describe, expect, it } from "vitest";
import { FAMILY_QUESTIONS, questionsFor } from "../../src/dialects/families.ts";
import { SIMULATED_API_KEY } from "../../src/sim/fleet/endpoint-spec.ts";
import { startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import type { TargetBehaviour } from "../../src/sim/fleet/simulated-target.ts";
import { BLOCKS_PER_EVENT } from "../../src/sim/model/indexer-model.ts";
import type { ServerKind } from "../../src/sim/servers/answer.ts";
import { SIMULATED_CUSTOM_QUERY } from "../../src/sim/servers/custom.ts";
import { answerTo, endpointOf } from "../dialects/endpoint-of.ts";
import { replyOf } from "../dialects/read-fixture.ts";
import { expectGolden } from "../support/golden.ts";
import { ask, call, get, post, type Seen } from "./ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12, 0, 0, 500);
const GRAPH = "{ _meta { block { number hash timestamp parentHash } hasIndexingErrors deployment } }";
const ENVIO = "{ _meta { chainId progressBlock } }";

interface Case {
  readonly kind: ServerKind;
  readonly chains?: readonly string[];
  /** How the target on Base differs from a healthy one. */
  readonly base?: Partial<TargetBehaviour>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly queries: readonly string[];
}

const CASES: readonly Case[] = [
  {
    kind: "graph-node",
    queries: [
      GRAPH,
      "{ _meta { block { number } } }",
      "{ _meta { chainId } }",
      "{ _meta { block { height } } }",
      "{ chain_metadata { chain_id } }",
      "{ _meta { block } }",
      "{ _meta: { block { number } } }",
      "{ _meta(block: { number: 5 }) { block { number hash timestamp } } }",
      "{ _meta(block: { number_gte: 999999999 }) { block { number } } }",
      "{ campaigns(orderBy: subgraphId, orderDirection: desc, first: 2) { subgraphId } }",
      "{ streams(orderBy: subgraphId, orderDirection: desc, first: 2) { subgraphId } }",
    ],
  },
  { kind: "graph-node", base: { timed: false }, queries: ["{ _meta { block { timestamp } } }"] },
  { kind: "graph-node", base: { started: false }, queries: [GRAPH] },
  { kind: "graph-node", base: { indexingErrors: true }, queries: ["{ _meta { hasIndexingErrors } }"] },
  { kind: "gateway", queries: [GRAPH] },
  { kind: "gateway", headers: { authorization: "Basic abc" }, queries: [GRAPH] },
  { kind: "gateway", headers: { authorization: "Bearer 123" }, queries: [GRAPH] },
  { kind: "gateway", headers: { authorization: `Bearer ${"0".repeat(32)}` }, queries: [GRAPH] },
  { kind: "gateway", headers: { authorization: `Bearer ${SIMULATED_API_KEY}` }, queries: [GRAPH] },
  { kind: "studio", queries: [GRAPH] },
  {
    kind: "envio",
    chains: ["base", "ethereum", "arbitrum"],
    queries: [
      "{ _meta { chainId progressBlock progressBlockTime } }",
      "{ _meta(where: { chainId: { _eq: 8453 } }) { progressBlock sourceBlock isReady } }",
      "{ _meta { block { number } } }",
      "{ _meta }",
      "{ _meta: { x } }",
      'query { Campaign(where: {chainId: {_eq: "8453"}}, order_by: {subgraphId: desc}, limit: 2) { subgraphId } }',
    ],
  },
  {
    kind: "envio",
    base: { started: false },
    queries: ["{ _meta { progressBlock isReady progressBlockTime } }"],
  },
  { kind: "envio", base: { rows: 0 }, queries: [ENVIO] },
  { kind: "envio", base: { rows: 2 }, queries: [ENVIO] },
  { kind: "envio", base: { says: { chainId: "1", block: 2 ** 53 + 2 } }, queries: [ENVIO] },
  {
    kind: "envio",
    base: { freezeAtMs: NOW_MS - 3_600_000, lagBlocks: 48 },
    queries: ["{ _meta { progressBlock sourceBlock } }"],
  },
  { kind: "envio-3.2", queries: [ENVIO, "{ _meta { progressBlockTime } }"] },
  {
    kind: "envio-2.27",
    queries: [
      ENVIO,
      "{ chain_metadata(where: { chain_id: { _eq: 8453 } }) { chain_id latest_processed_block block_height } }",
      "{ Stream(where: {chainId: {_eq: 8453}}, order_by: {subgraphId: desc}, limit: 2) { subgraphId } }",
    ],
  },
  {
    kind: "ponder",
    chains: ["ethereum", "base"],
    base: { started: false },
    queries: [
      "{ _meta { status } }",
      "{ _meta { block { number } } }",
      "{ chain_metadata { chain_id } }",
      "{ _meta }",
      "{",
      '{ campaigns(where: {chainId: 1}, orderDirection: "asc", limit: 1) { items { id chainId subgraphId } } }',
    ],
  },
  { kind: "squid", queries: ["{ squidStatus { height hash finalizedHeight } }", GRAPH] },
  { kind: "squid", base: { started: false }, queries: ["{ squidStatus { height hash } }"] },
  {
    kind: "subquery",
    chains: ["ethereum", "base"],
    base: { started: false },
    queries: [
      "{ _metadatas { totalCount nodes { lastProcessedHeight chain } } }",
      '{ _metadata(chainId: "8453") { chain lastProcessedTimestamp } }',
      "{ _metadata { height } }",
    ],
  },
  {
    kind: "graph-status",
    queries: ["{ _meta { block { number } } }", "{ version { version commit } }"],
  },
];

describe("the simulated servers", () => {
  it("answer as the real ones do", async () => {
    const lines = [];
    for (const { kind, chains = ["base"], base = {}, headers, queries } of CASES) {
      await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind, chains }] });
      fleet.target(`${kind}/base`).set(base);
      const special = [base, headers ?? {}].filter((one) => Object.keys(one).length > 0);
      lines.push(`# ${[kind, ...chains, ...special.map((one) => JSON.stringify(one))].join(" ")}`);
      for (const query of queries) {
        lines.push(query, textOf(await ask(fleet.endpoint(kind).url, query, headers)));
      }
      lines.push("");
    }

    expectGolden("test/fixtures/sim/graphql.expected.txt", lines.join("\n"));
  });

  it("answer what is no GraphQL query as the real ones do", async () => {
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: (["gateway", "studio", "graph-node", "envio", "ponder", "squid", "rpc"] as const).map(
        (kind) => ({ kind }),
      ),
    });
    const rpc = fleet.endpoint("rpc").url;
    const head = fleet.chain("base").headAt();
    const seen: Readonly<Record<string, Seen>> = {
      "GET of the gateway": await get(fleet.endpoint("gateway").url),
      "GET of graph-node": await get(fleet.endpoint("graph-node").url),
      "GET of Envio": await get(fleet.endpoint("envio").url),
      "GET of Ponder's status": await get(`${fleet.endpoint("ponder").url}status`),
      "GET of a node": await get(rpc),
      "an empty body to graph-node": await post(fleet.endpoint("graph-node").url, ""),
      "a body without a query to Envio": await post(fleet.endpoint("envio").url, "{}"),
      "an unknown subgraph of the gateway": await ask(
        new URL("/api/subgraphs/id/5xyz", fleet.endpoint("gateway").url).href,
        GRAPH,
        { authorization: `Bearer ${SIMULATED_API_KEY}` },
      ),
      "the latest block": await call(rpc, "eth_getBlockByNumber", ["latest", false]),
      "an older block": await call(rpc, "eth_getBlockByNumber", [`0x${(head - 10).toString(16)}`, false]),
      "a block beyond the head": await call(rpc, "eth_getBlockByNumber", ["0xffffffffff", false]),
      "the chain id": await call(rpc, "eth_chainId", []),
      "an unknown method": await call(rpc, "eth_foo", []),
      "no JSON to a node": await post(rpc, "{"),
    };

    const lines = Object.entries(seen).map(([name, one]) => `${name}\n${textOf(one)}\n`);
    expectGolden("test/fixtures/sim/other-requests.expected.txt", lines.join(""));
  });

  it("are found by dialect auto, and read at the height that they index", async () => {
    const servers = [
      { kind: "graph-node", dialect: "graph", chains: ["base"] },
      { kind: "envio", dialect: "envio", chains: ["ethereum", "base"] },
      { kind: "envio-2.27", dialect: "envio", chains: ["ethereum", "base"] },
      { kind: "ponder", dialect: "ponder", chains: ["ethereum", "base"] },
      { kind: "squid", dialect: "squid", chains: ["base"] },
      { kind: "subquery", dialect: "subquery", chains: ["ethereum", "base"] },
      { kind: "subquery", dialect: "subquery", chains: ["base"] },
    ] as const;
    for (const { kind, dialect, chains } of servers) {
      await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind, chains }] });
      const { url, targets } = fleet.endpoint(kind);
      const endpoint = endpointOf(
        "auto",
        targets.map(({ chain }) => chain.id),
      );

      const answers = [];
      for (const question of questionsFor(endpoint)) {
        const { status, body } = await post(url, JSON.stringify(question.body));
        const reply = replyOf(JSON.stringify(body), { httpStatus: status });
        answers.push({ question, answer: answerTo(endpoint, question, reply, NOW_MS) });
      }

      const first = answers.find(({ answer }) => answer.kind === "answered");
      expect(FAMILY_QUESTIONS.get(dialect)).toContain(first?.question);
      expect(first?.answer).toMatchObject({
        outcomes: targets.map((target) => ({ kind: "head", head: { block: target.heightAt() } })),
      });
    }
  });

  it("of dialects that auto does not find are read by their own query", async () => {
    for (const kind of ["custom", "graph-status"] as const) {
      const chains = ["ethereum", "base"];
      await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind, chains }] });
      const { url, targets } = fleet.endpoint(kind);
      fleet.target(`${kind}/base`).set({ indexingErrors: true });
      const plain = endpointOf(
        kind,
        targets.map(({ chain }) => chain.id),
      );
      const endpoint = {
        ...plain,
        ...(kind === "custom" ? { custom: SIMULATED_CUSTOM_QUERY } : {}),
        targets: plain.targets.map((target, index) => ({
          ...target,
          deployment: String(targets[index]?.behaviour.deployment),
        })),
      };
      const [question] = questionsFor(endpoint);
      if (question === undefined) {
        throw new RangeError(`Cannot ask: dialect ${kind} has no question`);
      }

      const { body } = await post(url, JSON.stringify(question.body));

      expect(answerTo(endpoint, question, replyOf(JSON.stringify(body)), NOW_MS)).toMatchObject({
        outcomes: targets.map((target) => ({
          kind: "head",
          head: { block: target.heightAt(), indexingErrors: target.key === `${kind}/base` },
        })),
      });
    }
  });

  it("have fewer rows of events once a target skips events, at the same height, until it is healed", async () => {
    let nowMs = NOW_MS;
    await using fleet = await startFleet({ nowMs: () => nowMs, endpoints: [{ kind: "graph-node" }] });
    const target = fleet.target("graph-node/base");
    const rows = (): number => Number(target.rowAt(nowMs).campaigns);
    const before = rows();
    target.skipEvents(2);

    nowMs += 4 * BLOCKS_PER_EVENT * 2_000;

    expect(target.heightAt()).toBe(fleet.chain("base").headAt());
    expect(rows()).toBe(before + 2);
    target.heal();
    expect(rows()).toBe(before + 4);
  });
});

function textOf({ status, body }: Seen): string {
  return `  HTTP ${status} ${typeof body === "string" ? body.slice(0, 200) : JSON.stringify(body)}`;
}
