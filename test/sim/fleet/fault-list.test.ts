import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { GRANTED } from "../../../src/budgets/grant.ts";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import type { FailureReason } from "../../../src/core/model/observation.ts";
import { poll } from "../../../src/daemon/polling/poll.ts";
import { NEW_SEARCH } from "../../../src/dialects/fallback-query.ts";
import { createHttpClient, type HttpClient } from "../../../src/io/http-client/client.ts";
import { FAULTS, type FaultName } from "../../../src/sim/fleet/fault-list.ts";
import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";

// Keys of FAULTS are its names: Object.keys forgets that.
const NAMES = Object.keys(FAULTS) as readonly FaultName[];

let fleet: SimulatedFleet;
let client: HttpClient;

beforeAll(async () => {
  fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "graph-node" }, { kind: "studio" }] });
  client = createHttpClient({
    timeoutMs: 1_000,
    maxResponseBytes: 1_048_576,
    connectionsPerHost: 2,
    userAgent: "synclag-test",
    nowMs: Date.now,
  });
});

beforeEach(() => fleet.heal());

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await fleet[Symbol.asyncDispose]();
});

describe("FAULTS", () => {
  it.each(NAMES.map((name) => ({ name, ...FAULTS[name] })))("$name is $reason to a poll", async (named) => {
    fleet.endpoint("graph-node").fail(named.name);

    const reason = await pollOnce("graph-node");

    expect(reason).toBe(named.reason);
  });

  it("leaves other endpoints alone, and ends when it heals", async () => {
    fleet.endpoint("graph-node").fail("reset_within_body");

    const other = await pollOnce("studio");
    fleet.endpoint("graph-node").heal();
    const healed = await pollOnce("graph-node");

    expect(other).toBeNull();
    expect(healed).toBeNull();
  });

  it("strikes so many times, and then no more", async () => {
    fleet.endpoint("graph-node").fail("http_503", { times: 2 });

    const reasons = [
      await pollOnce("graph-node"),
      await pollOnce("graph-node"),
      await pollOnce("graph-node"),
    ];

    expect(reasons).toEqual(["http_status", "http_status", null]);
  });

  it("strikes a share of the requests", async () => {
    fleet.endpoint("graph-node").fail("http_503", { share: 0.5 });

    const reasons: (FailureReason | null)[] = [];
    for (let count = 0; count < 40; count++) {
      reasons.push(await pollOnce("graph-node"));
    }

    expect(reasons.filter((reason) => reason === null).length).toBeGreaterThan(8);
    expect(reasons.filter((reason) => reason === "http_status").length).toBeGreaterThan(8);
  });
});

/** The reason that one poll of the endpoint gives; null: it succeeds. */
async function pollOnce(kind: "graph-node" | "studio"): Promise<FailureReason | null> {
  const { observations } = await poll(endpointOf(kind), NEW_SEARCH, {
    post: client.post,
    use: "scheduled",
    unsent: "observed",
    acquire: () => Promise.resolve(GRANTED),
    backOff: () => undefined,
    onAccepted: () => undefined,
    onRequest: () => undefined,
    onFailure: () => undefined,
    sleep: () => Promise.resolve("done"),
    nowMs: Date.now,
    random: () => 0,
    redact: (text) => text,
    retries: 0,
  });
  const [observation] = observations;
  expect(observation?.source).toBe(`${kind}/base`);
  return observation?.kind === "failed" ? observation.reason : null;
}

function endpointOf(kind: "graph-node" | "studio"): Endpoint {
  const shared = { protocol: "airdrops", variant: "subgraph", tier: "production", pollIntervalMs: 15_000 };
  const { url, headers } = fleet.endpoint(kind);
  return {
    ...shared,
    key: kind,
    kind: "indexer",
    name: "base",
    url,
    host: new URL(url).host,
    headers,
    dialect: "graph",
    schedule: "*/15 * * * * *",
    budget: null,
    chain: "base",
    targets: [
      { ...shared, key: `${kind}/base`, chain: "base", chainId: 8453, explorer: null, playground: null },
    ],
  };
}
