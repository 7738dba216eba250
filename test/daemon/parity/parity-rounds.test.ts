import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endpointsOf, type Fleet } from "../../../src/core/model/fleet.ts";
import { Monitor } from "../../../src/daemon/monitor.ts";
import { ParitySchedule } from "../../../src/daemon/parity/parity-schedule.ts";
import { DialectCache } from "../../../src/daemon/polling/dialect-cache.ts";
import { createHttpClient, type HttpClient } from "../../../src/io/http-client/client.ts";
import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { recordPolls } from "../../support/recorded-polls.ts";
import { configOf } from "../../support/running-app.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 20, 12);

const PARITY = `
parity:
  - name: campaigns
    protocol: airdrops
    every: 2m
    queries:
      multichain: { select: 'Campaign(where: {chainId: {_eq: "{chain_id}"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId }', value: Campaign.0.subgraphId }
      subgraph: { select: 'campaigns(orderBy: subgraphId, orderDirection: desc, first: 1) { subgraphId }', value: campaigns.0.subgraphId }
`;

let nowMs: number;
let client: HttpClient;
let sim: SimulatedFleet;

beforeEach(async () => {
  nowMs = START_MS;
  client = createHttpClient({
    timeoutMs: 5_000,
    maxResponseBytes: 1_000_000,
    connectionsPerHost: 4,
    userAgent: "synclag/test",
    nowMs: () => nowMs,
  });
  sim = await startFleet({
    nowMs: () => nowMs,
    endpoints: [
      { kind: "envio", key: "airdrops/multichain/production/all", chains: ["base", "ethereum"] },
      { kind: "graph-node", key: "airdrops/subgraph/production/base", chains: ["base"] },
      { kind: "graph-node", key: "airdrops/subgraph/production/ethereum", chains: ["ethereum"] },
    ],
  });
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await sim[Symbol.asyncDispose]();
});

function fleetWith(parity: string): Fleet {
  const url = (key: string): string => sim.endpoint(key).url;
  return configOf(`
version: 1
chains: { base: { id: 8453, block_time: 2s }, ethereum: { id: 1, block_time: 12s } }
protocols:
  airdrops:
    - variant: multichain
      dialect: auto
      url: ${url("airdrops/multichain/production/all")}
      schedule: "0 * * * * *"
      chains: [base, ethereum]
    - variant: subgraph
      dialect: graph
      schedule: "0 * * * * *"
      chains:
        base: { url: "${url("airdrops/subgraph/production/base")}" }
        ethereum: { url: "${url("airdrops/subgraph/production/ethereum")}" }
${parity}`).fleet;
}

/** Polls every endpoint once a minute, as the daemon does. */
function pollMinutely(fleet: Fleet) {
  const monitor = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] });
  const schedule = new ParitySchedule(() => nowMs);
  const dialects = new DialectCache();
  const { ports, questions } = recordPolls({ post: client.post, nowMs: () => nowMs });
  const results = (): readonly string[] =>
    monitor
      .report()
      .chains.flatMap(({ parity }) =>
        parity.map(
          ({ target, result, compared }) => `${target.chain} ${result} ${compared?.difference ?? "-"}`,
        ),
      );
  const play = async (minutes: number): Promise<ReadonlySet<string>> => {
    const seen = new Set<string>();
    for (let minute = 0; minute < minutes; minute += 1) {
      nowMs += MINUTE_MS;
      for (const endpoint of endpointsOf(fleet)) {
        const result = await schedule.poll(endpoint, dialects.searchOf(endpoint), ports);
        dialects.note(endpoint, result.search);
        monitor.observe(result.observations);
        monitor.observeParity(result.readings);
      }
      results().forEach((result) => {
        seen.add(result);
      });
    }
    return seen;
  };
  return { play, results, questions };
}

function requestsSent(): number {
  return sim.endpoints("*/*/*/*").reduce((sum, { requestCount }) => sum + requestCount, 0);
}

describe("parity over many polls", () => {
  it("sends exactly as many requests as without it", async () => {
    await pollMinutely(fleetWith("")).play(30);
    const without = requestsSent();

    const { play, questions } = pollMinutely(fleetWith(PARITY));
    await play(30);

    expect(requestsSent() - without).toBe(without);
    // Every second poll of each endpoint but for the first, in which its dialect was found out.
    expect(questions.filter((question) => question.includes("subgraphId"))).toHaveLength(3 * 15);
  });

  it("tells a variant that skips events, by how many, and that it is mended", async () => {
    const { play, results } = pollMinutely(fleetWith(PARITY));

    const healthy = await play(40);
    sim.target("airdrops/subgraph/production/base").skipEvents(2);
    const skipping = await play(40);
    const differing = results();
    sim.target("airdrops/subgraph/production/base").heal();
    await play(20);

    expect([...healthy].filter((result) => result.includes("different"))).toEqual([]);
    expect([...skipping].some((result) => result.startsWith("ethereum different"))).toBe(false);
    expect(differing).toEqual([expect.stringMatching(/^base different \d+$/), "ethereum equal 0"]);
    expect(results()).toEqual(["base equal 0", "ethereum equal 0"]);
  });

  it("has every height while a server refuses the selection", async () => {
    const { play, questions } = pollMinutely(
      fleetWith(PARITY.replace("campaigns(orderBy", "campaign(orderBy").replace("campaigns.0", "campaign.0")),
    );

    await play(60);

    const refused = questions.filter((question) => question.includes("campaign("));
    // After 2, 4, 8, 16 and 32 minutes, at either subgraph.
    expect(refused).toHaveLength(2 * 5);
    expect(questions).toHaveLength(3 * 60 + refused.length);
  });
});
