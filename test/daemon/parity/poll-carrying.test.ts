import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import type { CarriedProbe } from "../../../src/core/model/parity.ts";
import { pollCarrying } from "../../../src/daemon/parity/poll-carrying.ts";
import { NEW_SEARCH } from "../../../src/dialects/fallback-query.ts";
import { createHttpClient, type HttpClient } from "../../../src/io/http-client/client.ts";
import { FAULTS, type FaultName } from "../../../src/sim/fleet/fault-list.ts";
import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { BLOCKS_PER_EVENT } from "../../../src/sim/model/indexer-model.ts";
import { json, type ServerKind } from "../../../src/sim/servers/answer.ts";
import { endpointFor } from "../../support/endpoint-for.ts";
import { recordPolls, type WantedPorts } from "../../support/recorded-polls.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const ANSWERED = { ...NEW_SEARCH, isAnswered: true };
const SECRET = "5ecret5ecret5ecret";

const SELECTIONS = {
  graph: {
    select: "campaigns(orderBy: subgraphId, orderDirection: desc, first: 1) { subgraphId }",
    value: "campaigns.0.subgraphId",
  },
  envio: {
    select:
      'Campaign(where: {chainId: {_eq: "{chain_id}"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId }',
    value: "Campaign.0.subgraphId",
  },
  ponder: {
    select:
      'campaigns(where: {chainId: {chain_id}}, orderBy: "subgraphId", orderDirection: "desc", limit: 1) { items { subgraphId } }',
    value: "campaigns.items.0.subgraphId",
  },
} as const;

let client: HttpClient;

beforeEach(() => {
  client = createHttpClient({
    timeoutMs: 1_000,
    maxResponseBytes: 1_000_000,
    connectionsPerHost: 4,
    userAgent: "synclag/test",
    nowMs: () => NOW_MS,
  });
});

afterEach(() => client[Symbol.asyncDispose]());

/** A simulated fleet of one endpoint, and polls of it that carry a selection. */
async function carrying(kind: ServerKind, dialect: keyof typeof SELECTIONS, ports: WantedPorts = {}) {
  const chains = dialect === "graph" ? ["base"] : ["base", "ethereum"];
  const fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind, chains }] });
  const endpoint = endpointFor(fleet.endpoint(kind), { dialect });
  const { select, value } = SELECTIONS[dialect];
  const recorded = recordPolls({ post: client.post, nowMs: () => NOW_MS, secrets: [SECRET], ...ports });
  const poll = (wanted: { readonly select?: string; readonly search?: typeof NEW_SEARCH } = {}) =>
    pollCarrying(
      endpoint,
      {
        search: wanted.search ?? ANSWERED,
        probes: [probeOf(endpoint, { select: wanted.select ?? select, value })],
      },
      recorded.ports,
    );
  return { ...recorded, fleet, endpoint, poll, [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose]() };
}

function probeOf(
  { targets }: Endpoint,
  { select, value }: { readonly select: string; readonly value: string },
): CarriedProbe {
  return {
    probe: "campaigns",
    everyMs: 600_000,
    selections: targets.map(({ key, chainId }) => ({
      target: key,
      select: select.replaceAll("{chain_id}", String(chainId)),
      value: value.split("."),
    })),
  };
}

/** Fails every request that carries a selection, as `answer` says, and no other. */
function failWithSelection(fleet: SimulatedFleet, kind: ServerKind, fault: FaultName): void {
  fleet.endpoint(kind).fail(FAULTS[fault].fault, { times: 1 });
}

describe("pollCarrying()", () => {
  it.each([
    { kind: "graph-node", dialect: "graph" },
    { kind: "gateway", dialect: "graph" },
    { kind: "envio", dialect: "envio" },
    { kind: "ponder", dialect: "ponder" },
  ] as const)("reads heights and values of $kind with one request", async ({ kind, dialect }) => {
    await using sim = await carrying(kind, dialect);
    const { endpoint, fleet } = sim;
    const headers = fleet.endpoint(kind).headers;
    const probes = [probeOf(endpoint, SELECTIONS[dialect])];

    const result = await pollCarrying({ ...endpoint, headers }, { search: ANSWERED, probes }, sim.ports);

    const blocks = endpoint.targets.map(({ key }) => fleet.target(key).heightAt() ?? 0);
    expect(fleet.endpoint(kind).requestCount).toBe(1);
    expect(result.carriage).toBe("answered");
    expect(result.observations).toMatchObject(blocks.map((block) => ({ kind: "head", head: { block } })));
    expect(result.readings).toMatchObject(
      blocks.map((block) => ({
        kind: "value",
        probe: "campaigns",
        block,
        value: { text: String(Math.floor(block / BLOCKS_PER_EVENT)), isNumber: true },
      })),
    );
    expect(sim.uses).toEqual(["scheduled"]);
  });

  it.each([
    { case: "the endpoint has not answered its dialect's question yet", search: NEW_SEARCH, probes: 1 },
    { case: "nothing is due", search: ANSWERED, probes: 0 },
  ])("carries nothing while $case", async ({ search, probes }) => {
    await using sim = await carrying("graph-node", "graph");

    const result = await pollCarrying(
      sim.endpoint,
      { search, probes: [probeOf(sim.endpoint, SELECTIONS.graph)].slice(0, probes) },
      sim.ports,
    );

    expect(sim.questions).toEqual([
      "{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }",
    ]);
    expect(result).toMatchObject({ carriage: "none", readings: [], search: { isAnswered: true } });
  });

  it.each([
    { kind: "graph-node", dialect: "graph", words: "Type `Query` has no field `campaign`" },
    {
      kind: "envio",
      dialect: "envio",
      words: "field 'campaign' not found in type: 'query_root' (validation-failed)",
    },
    {
      kind: "ponder",
      dialect: "ponder",
      words: 'Cannot query field "campaign" on type "Query". Did you mean',
    },
  ] as const)(
    "asks $kind for the heights alone when it refuses the selection",
    async ({ kind, dialect, words }) => {
      await using sim = await carrying(kind, dialect);

      const result = await sim.poll({ select: "campaign { id }" });

      expect(result.observations.every((observation) => observation.kind === "head")).toBe(true);
      expect(result.carriage).toBe("refused");
      expect(result.readings).toMatchObject(
        sim.endpoint.targets.map(({ key }) => ({
          kind: "failed",
          target: key,
          detail: expect.stringContaining(words),
        })),
      );
      expect(result.search).toEqual(ANSWERED);
      expect(sim.uses).toEqual(["scheduled", "opportunistic"]);
      // It is no failure of the poll.
      expect(sim.failures).toEqual([]);
    },
  );

  it.each([
    { fault: "hang_before_headers", requests: 2, sleeps: 1 },
    { fault: "http_500", requests: 2, sleeps: 1 },
    { fault: "reset_within_body", requests: 2, sleeps: 1 },
    { fault: "query_timed_out", requests: 2, sleeps: 1 },
    { fault: "query_too_expensive", requests: 2, sleeps: 1 },
    { fault: "indexers_bad_response", requests: 2, sleeps: 1 },
    { fault: "huge", requests: 2, sleeps: 0 },
    { fault: "data_null", requests: 2, sleeps: 0 },
    { fault: "indexers_indexing_error", requests: 2, sleeps: 0 },
    { fault: "subgraph_not_found", requests: 2, sleeps: 0 },
  ] as const)("has the height in spite of $fault, without more requests than a retry", async (wanted) => {
    await using sim = await carrying("graph-node", "graph");
    failWithSelection(sim.fleet, "graph-node", wanted.fault);

    const result = await sim.poll();

    expect(result).toMatchObject({
      carriage: "refused",
      observations: [{ kind: "head" }],
      readings: [{ kind: "failed" }],
    });
    expect(sim.questions[1]).not.toContain("campaigns");
    expect([sim.questions.length, sim.sleeps.length]).toEqual([wanted.requests, wanted.sleeps]);
    expect(sim.failures).toEqual([]);
  });

  it("asks for the height after a timeout also where nothing is retried", async () => {
    await using sim = await carrying("graph-node", "graph", { retries: 0 });
    failWithSelection(sim.fleet, "graph-node", "hang_before_headers");

    const result = await sim.poll();

    expect(result).toMatchObject({ carriage: "refused", observations: [{ kind: "head" }] });
  });

  it("is not the selection's fault when the heights alone fail too", async () => {
    await using sim = await carrying("graph-node", "graph");
    sim.fleet.endpoint("graph-node").fail("http_503");

    const result = await sim.poll();

    expect(result).toMatchObject({
      carriage: "unclear",
      readings: [],
      observations: [{ kind: "failed", reason: "http_status" }],
    });
    // As many as without parity.
    expect(sim.questions).toHaveLength(2);
    expect(sim.failures).toMatchObject([{ reason: "http_status" }]);
  });

  it.each(["http_429", "http_429_retry_after", "payment_required"] as const)(
    "does not ask again after %s",
    async (fault) => {
      await using sim = await carrying("graph-node", "graph");
      sim.fleet.endpoint("graph-node").fail(fault);

      const result = await sim.poll();

      const { reason } = FAULTS[fault];
      expect(result).toMatchObject({
        carriage: "none",
        readings: [],
        observations: [{ kind: "failed", reason }],
      });
      expect(sim.questions).toHaveLength(1);
      expect(sim.failures).toMatchObject([{ reason }]);
      expect(sim.refusals).toHaveLength(fault === "payment_required" ? 0 : 1);
    },
  );

  it("observes nothing where the budget cannot spare the second request", async () => {
    await using sim = await carrying("graph-node", "graph", { allows: (use) => use === "scheduled" });

    const result = await sim.poll({ select: "campaign { id }" });

    expect(result).toMatchObject({ carriage: "unclear", observations: [], readings: [], search: ANSWERED });
    expect(sim.questions).toHaveLength(1);
    expect(sim.failures).toEqual([]);
  });

  it("is still due where the budget allows no request at all", async () => {
    await using sim = await carrying("graph-node", "graph", { allows: () => false });

    const result = await sim.poll();

    expect(result).toMatchObject({ carriage: "none", observations: [{ kind: "failed", reason: "budget" }] });
    expect(sim.failures).toMatchObject([{ reason: "budget" }]);
  });

  it("leaves it to the dialect's search where the question itself is no longer answered", async () => {
    await using sim = await carrying("envio-2.27", "envio");

    const result = await sim.poll();

    expect(result).toMatchObject({
      carriage: "unclear",
      readings: [],
      search: { questionIndex: 2, isAnswered: true },
    });
    expect(result.observations).toMatchObject([{ kind: "head" }, { kind: "head" }]);
  });

  it("keeps the height beside one value that cannot be read, and says why", async () => {
    await using sim = await carrying("envio", "envio");
    sim.fleet.target("envio/ethereum").set({ says: { campaigns: ["odd"] } });

    const result = await sim.poll();

    expect(result.readings).toMatchObject([
      { kind: "value" },
      {
        kind: "failed",
        detail: "Cannot compare data.Campaign.0.subgraphId: expected one value, found a list of 1",
      },
    ]);
    expect(result.observations).toMatchObject([{ kind: "head" }, { kind: "head" }]);
  });

  it("has the height of a failed subgraph, which answers nothing else", async () => {
    await using sim = await carrying("graph-node", "graph");
    sim.fleet.target("graph-node/base").set({ indexingErrors: true });

    const result = await sim.poll();

    expect(result.observations).toMatchObject([{ kind: "head", head: { indexingErrors: true } }]);
    expect(result.readings).toMatchObject([{ kind: "failed", detail: "indexing_error" }]);
    expect(sim.questions).toHaveLength(1);
  });

  it("keeps secrets out of the server's words", async () => {
    await using sim = await carrying("graph-node", "graph");
    const words = { errors: [{ message: `Cannot resolve campaigns for ${SECRET}` }] };
    sim.fleet.endpoint("graph-node").fail({ kind: "answer", ...json(words) }, { times: 1 });

    const { readings } = await sim.poll();

    expect(readings).toMatchObject([{ detail: expect.stringContaining("Cannot resolve campaigns for") }]);
    expect(JSON.stringify(readings)).not.toContain(SECRET);
  });

  it("keeps secrets out of a value", async () => {
    await using sim = await carrying("graph-node", "graph");
    const data = { _meta: { block: { number: 7 } }, p0_8453: [{ subgraphId: `id of ${SECRET}` }] };
    sim.fleet.endpoint("graph-node").fail({ kind: "answer", ...json({ data }) }, { times: 1 });

    const { readings } = await sim.poll();

    expect(readings).toMatchObject([{ kind: "value", value: { text: '"id of [secret]"' } }]);
  });
});
