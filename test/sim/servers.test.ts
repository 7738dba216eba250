import { describe, expect, it } from "vitest";
import { DIALECTS, questionsFor } from "../../src/dialects/families.ts";
import type { TargetBehaviour } from "../../src/sim/fleet/simulated-target.ts";
import { BLOCKS_PER_EVENT } from "../../src/sim/model/indexer-model.ts";
import type { ServerKind } from "../../src/sim/servers/families.ts";
import { SIMULATED_API_KEY } from "../../src/sim/servers/families.ts";
import { answerTo, endpointOf } from "../dialects/endpoint-of.ts";
import { replyOf } from "../dialects/read-fixture.ts";
import { SIMULATED_CUSTOM, startFleet } from "../support/fleet.ts";
import { expectGolden } from "../support/golden.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12, 0, 0, 500);
const GRAPH = "{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }";
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
    queries: [GRAPH, "{ _meta { chainId } chain_metadata { chain_id } }", "{ _meta: { block } }"],
  },
  {
    kind: "graph-node",
    base: { says: { timestampSec: null } },
    queries: ["{ _meta { block { timestamp } } }"],
  },
  { kind: "graph-node", base: { started: false }, queries: [GRAPH] },
  {
    kind: "graph-node",
    base: { indexingErrors: true },
    queries: ["{ _meta { hasIndexingErrors } }", "{ _meta { block { number } } campaigns(first: 1) { id } }"],
  },
  {
    kind: "studio",
    queries: ["{ campaigns(orderBy: subgraphId, orderDirection: desc, first: 2) { subgraphId } }"],
  },
  { kind: "gateway", queries: [GRAPH] },
  { kind: "gateway", headers: { authorization: `Bearer ${"0".repeat(32)}` }, queries: [GRAPH] },
  { kind: "gateway", headers: { authorization: `Bearer ${SIMULATED_API_KEY}` }, queries: [GRAPH] },
  {
    kind: "envio",
    chains: ["base", "ethereum", "arbitrum"],
    queries: [
      ENVIO,
      'query { Campaign(where: {chainId: {_eq: "8453"}}, order_by: {subgraphId: desc}, limit: 2) { subgraphId } }',
    ],
  },
  { kind: "envio", base: { started: false }, queries: ["{ _meta { progressBlock progressBlockTime } }"] },
  { kind: "envio", base: { rows: 0 }, queries: [ENVIO] },
  { kind: "envio", base: { rows: 2 }, queries: [ENVIO] },
  { kind: "envio", base: { says: { chainId: "1", block: 2 ** 53 + 2 } }, queries: [ENVIO] },
  { kind: "envio-3.2", queries: [ENVIO, "{ _meta { progressBlockTime } }"] },
  { kind: "envio-2.27", queries: [ENVIO, "{ chain_metadata { chain_id latest_processed_block } }"] },
  {
    kind: "ponder",
    chains: ["ethereum", "base"],
    base: { started: false },
    queries: [
      "{ _meta { status } }",
      "{ _meta { block { number } } }",
      '{ campaigns(where: {chainId: 1}, orderDirection: "asc", limit: 1) { items { id chainId subgraphId } } }',
    ],
  },
  { kind: "squid", base: { started: false }, queries: ["{ squidStatus { height hash } }", GRAPH] },
  {
    kind: "subquery",
    chains: ["ethereum", "base"],
    base: { started: false },
    queries: ["{ _metadatas { nodes { lastProcessedHeight chain } } }", "{ _metadata { height } }"],
  },
  { kind: "graph-status", queries: ["{ _meta { block { number } } }", "{ version { version commit } }"] },
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
        lines.push(query, textOf(await post(fleet.endpoint(kind).url, JSON.stringify({ query }), headers)));
      }
      lines.push("");
    }

    expectGolden("test/fixtures/sim/graphql.expected.txt", lines.join("\n"));
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
      expect(DIALECTS[dialect]?.questions).toContain(first?.question);
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
        ...(kind === "custom" ? { custom: SIMULATED_CUSTOM } : {}),
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
    const rows = (): number => Number(target.rowsAt(nowMs)[0]?.campaigns);
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

/** What a raw client sees. */
interface Seen {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown;
}

/** Posts as any client would. */
async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Seen> {
  const sent = { "content-type": "application/json", ...headers };
  const response = await fetch(url, { method: "POST", headers: sent, body });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}
