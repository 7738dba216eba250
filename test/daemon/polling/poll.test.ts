import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import { poll } from "../../../src/daemon/polling/poll.ts";
import { NEW_SEARCH } from "../../../src/dialects/fallback-query.ts";
import { createHttpClient, type HttpClient } from "../../../src/io/http-client/client.ts";
import type { EndpointSpec } from "../../../src/sim/fleet/endpoint-spec.ts";
import type { FaultName } from "../../../src/sim/fleet/fault-list.ts";
import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { endpointFor } from "../../support/endpoint-for.ts";
import { type RecordedPolls, recordPolls, type WantedPorts } from "../../support/recorded-polls.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const TIMEOUT_MS = 1_000;

const ENVIO_WITH_TIME = "{ _meta { chainId progressBlock progressBlockTime } }";
const ENVIO = "{ _meta { chainId progressBlock } }";
const ENVIO_OLD = "{ chain_metadata { chain_id latest_processed_block } }";
const GRAPH = "{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }";
const PONDER = "{ _meta { status } }";

let client: HttpClient;

beforeEach(() => {
  client = createHttpClient({
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: 1_000_000,
    connectionsPerHost: 4,
    userAgent: "synclag/test",
    nowMs: () => NOW_MS,
  });
});

afterEach(() => client[Symbol.asyncDispose]());

describe("poll()", () => {
  it.each([
    { kind: "envio", asked: [ENVIO_WITH_TIME], index: 0 },
    { kind: "envio-3.2", asked: [ENVIO_WITH_TIME, ENVIO], index: 1 },
    { kind: "envio-2.27", asked: [ENVIO_WITH_TIME, ENVIO, ENVIO_OLD], index: 2 },
  ] as const)(
    "finds the question that $kind knows, and begins with it the next time",
    async ({ kind, asked, index }) => {
      await using fleet = await fleetOf({ kind, chains: ["base", "ethereum"] });
      const { endpoint } = meet(fleet, kind, { dialect: "envio" });
      const { ports, questions, uses, failures } = record();

      const first = await poll(endpoint, NEW_SEARCH, ports);
      const atFirst = questions.splice(0);
      const second = await poll(endpoint, first.search, ports);

      expect(atFirst).toEqual(asked);
      expect(first.search.questionIndex).toBe(index);
      expect(questions).toEqual(asked.slice(-1));
      expect(second.search.questionIndex).toBe(index);
      // What was refused on the way there is no failure, but each request was drawn.
      expect(uses).toEqual(["scheduled", ...Array(asked.length - 1).fill("opportunistic"), "scheduled"]);
      expect(failures).toEqual([]);
    },
  );

  it.each([
    { kind: "graph-node", chains: ["base"], fits: GRAPH },
    { kind: "envio", chains: ["base"], fits: ENVIO_WITH_TIME },
    { kind: "envio", chains: ["base", "ethereum"], fits: ENVIO_WITH_TIME },
    { kind: "envio-2.27", chains: ["base", "ethereum"], fits: ENVIO_OLD },
    { kind: "ponder", chains: ["base", "ethereum"], fits: PONDER },
  ] as const)(
    "detects $kind of $chains.length chains by itself, and remembers",
    async ({ kind, chains, fits }) => {
      await using fleet = await fleetOf({ kind, chains });
      const { endpoint } = meet(fleet, kind, { dialect: "auto" });
      const { ports, questions, failures } = record();

      const first = await poll(endpoint, NEW_SEARCH, ports);
      questions.splice(0);
      const second = await poll(endpoint, first.search, ports);

      expect(first.observations.map(({ kind: said }) => said)).toEqual(chains.map(() => "head"));
      expect(second.observations.map(({ kind: said }) => said)).toEqual(chains.map(() => "head"));
      expect(questions).toEqual([fits]);
      expect(failures).toEqual([]);
    },
  );

  it("looks again when an answer no longer fits, also backwards", async () => {
    await using before = await fleetOf({ kind: "envio-2.27", chains: ["base"] });
    await using after = await fleetOf({ kind: "envio", chains: ["base"] });
    const old = meet(before, "envio-2.27", { dialect: "envio" });
    const upgraded = meet(after, "envio", { dialect: "envio" });
    const { ports, questions, failures } = record();
    // As if the old tables were gone.
    after.endpoint("envio").fail(
      {
        kind: "answer",
        status: 200,
        body: JSON.stringify({
          errors: [
            {
              message: "field 'chain_metadata' not found in type: 'query_root'",
              extensions: { code: "validation-failed" },
            },
          ],
        }),
      },
      { times: 1 },
    );

    const { search } = await poll(old.endpoint, NEW_SEARCH, ports);
    questions.splice(0);
    const { observations, search: anew } = await poll(upgraded.endpoint, search, ports);

    expect(questions).toEqual([ENVIO_OLD, ENVIO_WITH_TIME]);
    expect(observations).toMatchObject([{ kind: "head" }]);
    expect(anew.questionIndex).toBe(0);
    expect(failures).toEqual([]);
  });

  it("says what was asked last where no question fits, once around", async () => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint } = meet(fleet, "graph-node", { dialect: "envio" });
    const { ports, questions, failures } = record({ retries: 3 });

    const { observations } = await poll(endpoint, { ...NEW_SEARCH, questionIndex: 1 }, ports);

    expect(questions).toEqual([ENVIO, ENVIO_OLD, ENVIO_WITH_TIME]);
    expect(observations).toMatchObject([{ kind: "failed", reason: "schema" }]);
    expect(failures).toMatchObject([{ reason: "schema", detail: expect.stringContaining(ENVIO_WITH_TIME) }]);
  });

  it("asks for all chains of a multi-chain endpoint with one request", async () => {
    await using fleet = await fleetOf({ kind: "envio", chains: ["base", "ethereum", "arbitrum"] });
    const { endpoint } = meet(fleet, "envio", { dialect: "envio" });
    fleet.target("envio/ethereum").set({ rows: 0 });
    const { ports, requests } = record();

    const { observations } = await poll(endpoint, NEW_SEARCH, ports);

    expect(fleet.endpoint("envio").requestCount).toBe(1);
    expect(requests).toEqual([endpoint.key]);
    expect(observations).toMatchObject([
      {
        source: "envio/base",
        kind: "head",
        head: { block: fleet.chain("base").headAt() },
        receivedAtMs: expect.any(Number),
      },
      { source: "envio/ethereum", kind: "missing" },
      { source: "envio/arbitrum", kind: "head", head: { block: fleet.chain("arbitrum").headAt() } },
    ]);
  });

  it("asks a chain's own node", async () => {
    await using fleet = await fleetOf({ kind: "rpc" });
    const { endpoint } = meet(fleet, "rpc", { kind: "rpc", key: "rpc/base/1", targets: [] });

    const { observations } = await poll(endpoint, NEW_SEARCH, record().ports);

    expect(observations).toMatchObject([
      { source: "rpc/base/1", kind: "head", head: { block: fleet.chain("base").headAt() } },
    ]);
  });
});

describe("poll() after a failure", () => {
  it.each([
    "hang_before_headers",
    "reset_before_headers",
    "reset_within_body",
    "http_502",
    "no_indexers",
    "gateway_fault",
    "html_with_200",
    "empty",
  ] satisfies FaultName[])("tries again after %s, from the spare part of the budget", async (fault) => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail(fault, { times: 1 });
    const { ports, uses, failures, sleeps, requests } = record({ random: () => 0.5 });

    const { observations } = await poll(endpoint, NEW_SEARCH, ports);

    expect(observations).toMatchObject([{ kind: "head" }]);
    expect(uses).toEqual(["scheduled", "opportunistic"]);
    expect(sleeps).toEqual([150]);
    expect(failures).toHaveLength(1);
    expect(requests).toHaveLength(2);
  });

  it.each([
    "http_401",
    "http_402",
    "http_403",
    "http_404",
    "http_429",
    "http_429_retry_after",
    "unknown_key",
    "spend_limit",
    "subgraph_not_found",
    "rate_limit_text",
    "indexing_error",
    "meta_null",
    "huge",
  ] satisfies FaultName[])("does not insist after %s", async (fault) => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail(fault);
    const { ports, uses } = record();

    const { observations } = await poll(endpoint, NEW_SEARCH, ports);

    expect(observations).toMatchObject([{ kind: "failed" }]);
    expect(uses).not.toContain("opportunistic");
  });

  it.each([
    { retries: 0, tries: 1 },
    { retries: 2, tries: 3 },
  ])("tries $tries times with $retries retries", async ({ retries, tries }) => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail("http_500");
    const { ports, failures } = record({ retries });

    const { observations } = await poll(endpoint, NEW_SEARCH, ports);

    expect(simulated.requestCount).toBe(tries);
    expect(failures).toHaveLength(tries);
    expect(observations).toMatchObject([{ kind: "failed", reason: "http_status" }]);
  });

  it("waits between 0.1 s and 0.2 s", async () => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail("http_500");
    const draws = [0, 0.999_999];
    const { ports, sleeps } = record({ retries: 2, random: () => draws.shift() ?? 0 });

    await poll(endpoint, NEW_SEARCH, ports);

    expect(sleeps[0]).toBe(100);
    expect(sleeps[1]).toBeCloseTo(200, 2);
  });

  it("keeps to its first failure where the budget bears no retry", async () => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail("http_500");
    const { ports, failures } = record({ allows: (use) => use === "scheduled" });

    const { observations } = await poll(endpoint, NEW_SEARCH, ports);

    expect(simulated.requestCount).toBe(1);
    expect(observations).toMatchObject([{ reason: "http_status" }]);
    expect(failures.map(({ reason }) => reason)).toEqual(["http_status"]);
  });

  it("sends nothing after a stop", async () => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail("http_500");
    const { ports, uses } = record({ sleep: () => Promise.resolve("stopped") });

    await poll(endpoint, NEW_SEARCH, ports);

    expect(simulated.requestCount).toBe(1);
    expect(uses).toEqual(["scheduled"]);
  });

  it("has nothing to say of anybody when it was cut off", async () => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail("hang_before_headers");
    const { ports, failures } = record();

    const polling = poll(endpoint, NEW_SEARCH, ports);
    await client[Symbol.asyncDispose]();

    expect((await polling).observations).toEqual([]);
    expect(failures.map(({ reason }) => reason)).toEqual(["aborted"]);
  });
});

describe("poll() within a budget", () => {
  it("sends nothing that the budget refuses, and says so of every target", async () => {
    await using fleet = await fleetOf({ kind: "envio", chains: ["base", "ethereum"] });
    const { endpoint, simulated } = meet(fleet, "envio", { dialect: "envio" });
    const { ports, requests, failures, refusals } = record({ allows: () => false });

    const { observations } = await poll(endpoint, NEW_SEARCH, ports);

    expect(simulated.requestCount).toBe(0);
    expect(requests).toEqual([]);
    expect(observations).toMatchObject([
      { source: "envio/base", kind: "failed", reason: "budget" },
      { source: "envio/ethereum", kind: "failed", reason: "budget" },
    ]);
    expect(failures.map(({ reason }) => reason)).toEqual(["budget"]);
    expect(refusals).toEqual([]);
  });

  it.each([
    { fault: "http_429", waitMs: null },
    { fault: "http_429_retry_after", waitMs: 2_000 },
    { fault: "rate_limit_text", waitMs: null },
    { fault: "http_403_rate_limit", waitMs: null },
  ] satisfies { fault: FaultName; waitMs: number | null }[])(
    "heeds a provider that says $fault",
    async ({ fault, waitMs }) => {
      await using fleet = await fleetOf({ kind: "graph-node" });
      const { endpoint, simulated } = meet(fleet, "graph-node");
      simulated.fail(fault);
      const { ports, refusals } = record();

      const { observations } = await poll(endpoint, NEW_SEARCH, ports);

      expect(refusals).toEqual([waitMs]);
      expect(observations).toMatchObject([{ reason: "rate_limited" }]);
    },
  );

  it("heeds a Retry-After also beside a 503, and does not try again before", async () => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    const headers = { "retry-after": new Date(NOW_MS + 90_000).toUTCString() };
    simulated.fail({ kind: "answer", status: 503, headers, body: "busy" });
    const { ports, refusals } = record();

    await poll(endpoint, NEW_SEARCH, ports);

    expect(simulated.requestCount).toBe(1);
    expect(refusals[0]).toBeGreaterThan(89_000);
  });
});

describe("poll() with a key", () => {
  const KEY = "0123456789abcdef0123456789abcdef";

  it.each([
    { where: "as it is", body: `no such key: ${KEY}` },
    { where: "across the cut of a long text", body: `${"x".repeat(185)}${KEY}` },
    { where: "in a page's title", body: `<html><title>${"y".repeat(180)}${KEY}</title></html>` },
    { where: "in an error of GraphQL", body: JSON.stringify({ errors: [{ message: `bad key ${KEY}` }] }) },
    {
      where: "as a value of the answer",
      body: JSON.stringify({ data: { _meta: { block: { number: KEY } } } }),
    },
  ])("keeps it to itself when it is echoed $where", async ({ body }) => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail({ kind: "answer", status: 200, body });
    const { ports } = record({ secrets: [KEY] });

    const { observations } = await poll(endpoint, NEW_SEARCH, ports);

    const said = JSON.stringify(observations);
    expect(observations).toMatchObject([{ kind: "failed" }]);
    // No piece of it either: eight characters in a row would already tell it from others.
    expect(pieces(KEY, 8).filter((piece) => said.includes(piece))).toEqual([]);
  });

  it("keeps it to itself when it is echoed in a header", async () => {
    await using fleet = await fleetOf({ kind: "graph-node" });
    const { endpoint, simulated } = meet(fleet, "graph-node");
    simulated.fail({ kind: "answer", status: 200, headers: { "content-encoding": KEY }, body: "{}" });
    const { ports, failures } = record({ secrets: [KEY] });

    const { observations } = await poll(endpoint, NEW_SEARCH, ports);

    expect(observations).toMatchObject([{ reason: "malformed" }]);
    expect(JSON.stringify([observations, failures])).not.toContain(KEY.slice(0, 8));
  });

  it("sends it to the endpoint that it is configured for", async () => {
    await using fleet = await fleetOf({ kind: "gateway" });
    const { endpoint } = meet(fleet, "gateway", { headers: fleet.endpoint("gateway").headers });
    const { ports } = record();

    expect((await poll(endpoint, NEW_SEARCH, ports)).observations).toMatchObject([{ kind: "head" }]);
  });
});

async function fleetOf(...endpoints: readonly EndpointSpec[]): Promise<SimulatedFleet> {
  return await startFleet({ nowMs: () => NOW_MS, endpoints });
}

/** A simulated endpoint with its configured side. */
function meet(fleet: SimulatedFleet, key: string, wanted: Partial<Endpoint> = {}) {
  const simulated = fleet.endpoint(key);
  return { simulated, endpoint: endpointFor(simulated, wanted) };
}

function record(wanted: WantedPorts = {}): RecordedPolls {
  return recordPolls({ post: client.post, nowMs: () => NOW_MS, ...wanted });
}

function pieces(text: string, length: number): readonly string[] {
  return Array.from({ length: text.length - length + 1 }, (_, start) => text.slice(start, start + length));
}
