import { describe, expect, it } from "vitest";
import { SIMULATED_API_KEY } from "../../../src/sim/fleet/endpoint-spec.ts";
import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { hashOf } from "../../../src/sim/model/chain-model.ts";
import { ask, get, post } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12, 0, 0, 500);
const PROBE = "{ _meta { block { number hash timestamp parentHash } hasIndexingErrors deployment } }";

function startGraph(): Promise<SimulatedFleet> {
  return startFleet({
    nowMs: () => NOW_MS,
    endpoints: [{ kind: "gateway" }, { kind: "studio" }, { kind: "graph-node" }],
  });
}

function errors(message: string): unknown {
  return { errors: [{ message }] };
}

describe("answerGraph()", () => {
  it.each([{ kind: "gateway" }, { kind: "studio" }, { kind: "graph-node" }])(
    "answers the standard probe as $kind",
    async ({ kind }) => {
      await using fleet = await startGraph();
      const { url, headers } = fleet.endpoint(kind);

      const seen = await ask(url, PROBE, headers);

      const number = fleet.chain("base").headAt();
      expect(seen.status).toBe(200);
      expect(seen.body).toEqual({
        data: {
          _meta: {
            block: {
              number,
              hash: hashOf(8453, number, "main"),
              timestamp: Math.floor(NOW_MS / 1_000),
              parentHash: hashOf(8453, number - 1, "main"),
            },
            hasIndexingErrors: false,
            deployment: fleet.target(`${kind}/base`).behaviour.deployment,
          },
        },
      });
    },
  );

  it("answers only what was asked for", async () => {
    await using fleet = await startGraph();

    const seen = await ask(fleet.endpoint("graph-node").url, "{ _meta { block { number } } }");

    expect(seen.body).toEqual({ data: { _meta: { block: { number: fleet.chain("base").headAt() } } } });
  });

  it.each([
    { query: "{ _meta { chainId } }", message: "Type `_Meta_` has no field `chainId`" },
    { query: "{ _meta { block { height } } }", message: "Type `_Block_` has no field `height`" },
    { query: "{ chain_metadata { chain_id } }", message: "Type `Query` has no field `chain_metadata`" },
    {
      query: "{ _meta { block } }",
      message: "Field `block` of type `_Block_` must have a selection of subfields",
    },
    {
      query: "{ _meta: { block { number } } }",
      message: 'query parse error: Parse error at 1:1\nSyntax Error: Expected Name, found "{".',
    },
  ])("refuses $query", async ({ query, message }) => {
    await using fleet = await startGraph();

    const seen = await ask(fleet.endpoint("graph-node").url, query);

    expect(seen.status).toBe(200);
    expect(seen.body).toEqual(errors(message));
  });

  it("knows neither hash nor time of a block that was asked for by number", async () => {
    await using fleet = await startGraph();
    const query = "{ _meta(block: { number: 5 }) { block { number hash timestamp } } }";

    const seen = await ask(fleet.endpoint("graph-node").url, query);

    expect(seen.body).toEqual({ data: { _meta: { block: { number: 5, hash: null, timestamp: null } } } });
  });

  it("refuses a block beyond its head", async () => {
    await using fleet = await startGraph();
    fleet.target("graph-node/base").set({ deployment: "Qm7" });

    const seen = await ask(
      fleet.endpoint("graph-node").url,
      "{ _meta(block: { number_gte: 999999999 }) { block { number } } }",
    );

    const head = fleet.chain("base").headAt();
    expect(seen.body).toEqual(
      errors(
        `Failed to decode \`block.number_gte\` value: \`subgraph Qm7 has only indexed up to block number ${head} and data for block number 999999999 is therefore not yet available\``,
      ),
    );
  });

  it("has no time where its block cache has none", async () => {
    await using fleet = await startGraph();
    fleet.target("graph-node/base").set({ timed: false });

    const seen = await ask(fleet.endpoint("graph-node").url, "{ _meta { block { timestamp } } }");

    expect(seen.body).toEqual({ data: { _meta: { block: { timestamp: null } } } });
  });

  it("says so when it has not started", async () => {
    await using fleet = await startGraph();
    fleet.target("graph-node/base").set({ started: false, deployment: "Qm7" });

    const seen = await ask(fleet.endpoint("graph-node").url, PROBE);

    expect(seen.body).toEqual(
      errors(
        "Store error: query execution failed: Subgraph `Qm7` has not started syncing yet. Wait for it to ingest a few blocks before querying it",
      ),
    );
  });

  it("flags a failed deployment, and before graph-node 0.44 adds the error", async () => {
    await using fleet = await startGraph();
    const endpoint = fleet.endpoint("graph-node");
    fleet.target("graph-node/base").set({ indexingErrors: true });
    const query = "{ _meta { hasIndexingErrors } }";

    const flagged = await ask(endpoint.url, query);
    endpoint.set({ errorsBesideMeta: true });
    const reported = await ask(endpoint.url, query);

    expect(flagged.body).toEqual({ data: { _meta: { hasIndexingErrors: true } } });
    expect(reported.body).toEqual({
      data: { _meta: { hasIndexingErrors: true } },
      errors: [{ message: "indexing_error" }],
    });
  });

  it.each([
    { authorization: null, message: "auth error: missing authorization header" },
    { authorization: "Basic abc", message: "auth error: invalid authorization header" },
    { authorization: "Bearer 123", message: "auth error: malformed API key" },
    { authorization: `Bearer ${"0".repeat(32)}`, message: "auth error: API key not found" },
  ])("says `$message` as a gateway to authorization $authorization", async ({ authorization, message }) => {
    await using fleet = await startGraph();

    const seen = await ask(
      fleet.endpoint("gateway").url,
      PROBE,
      authorization === null ? {} : { authorization },
    );

    expect(seen.status).toBe(200);
    expect(seen.body).toEqual(errors(message));
  });

  it("takes a key in the path as well", async () => {
    await using fleet = await startGraph();
    const url = fleet.endpoint("gateway").url.replace("/api/", `/api/${SIMULATED_API_KEY}/`);

    const seen = await ask(url, "{ _meta { block { number } } }");

    expect(seen.body).toEqual({ data: { _meta: { block: { number: fleet.chain("base").headAt() } } } });
  });

  it("tells a gateway's caller that a subgraph does not exist", async () => {
    await using fleet = await startGraph();
    const { url, headers } = fleet.endpoint("gateway");

    const seen = await ask(new URL("/api/subgraphs/id/5xyz", url).href, PROBE, headers);

    expect(seen.body).toEqual(errors("subgraph not found: 5xyz"));
  });

  it.each([
    { kind: "gateway", status: 405 },
    { kind: "studio", status: 200 },
    { kind: "graph-node", status: 302 },
  ])("answers GET as $kind with $status", async ({ kind, status }) => {
    await using fleet = await startGraph();

    const seen = await get(fleet.endpoint(kind).url);

    expect(seen.status).toBe(status);
  });

  it("wants a body", async () => {
    await using fleet = await startGraph();

    const seen = await post(fleet.endpoint("graph-node").url, "");

    expect(seen.status).toBe(400);
    expect(seen.body).toEqual({ error: "Body is required" });
  });
});
