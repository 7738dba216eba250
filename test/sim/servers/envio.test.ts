import { describe, expect, it } from "vitest";

import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { ask, get, post } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12, 0, 0, 500);
const CHAINS = ["base", "ethereum", "arbitrum"];

function startEnvio(): Promise<SimulatedFleet> {
  return startFleet({
    nowMs: () => NOW_MS,
    endpoints: [
      { kind: "envio", chains: CHAINS },
      { kind: "envio-3.2", chains: CHAINS },
      { kind: "envio-2.27", chains: CHAINS },
    ],
  });
}

function refusal(message: string, path: string): unknown {
  return { errors: [{ message, extensions: { path, code: "validation-failed" } }] };
}

describe("answerEnvio()", () => {
  it("has a row for each chain, in the order of their ids", async () => {
    await using fleet = await startEnvio();

    const seen = await ask(fleet.endpoint("envio-3.2").url, "{ _meta { chainId progressBlock } }");

    expect(seen.status).toBe(200);
    expect(seen.body).toEqual({
      data: {
        _meta: [
          { chainId: 1, progressBlock: fleet.chain("ethereum").headAt() },
          { chainId: 8453, progressBlock: fleet.chain("base").headAt() },
          { chainId: 42161, progressBlock: fleet.chain("arbitrum").headAt() },
        ],
      },
    });
  });

  it("has the time of the block only in the newest version", async () => {
    await using fleet = await startEnvio();
    const query = "{ _meta(where: { chainId: { _eq: 8453 } }) { progressBlockTime } }";

    const newest = await ask(fleet.endpoint("envio").url, query);
    const older = await ask(fleet.endpoint("envio-3.2").url, query);

    expect(newest.body).toEqual({ data: { _meta: [{ progressBlockTime: Math.floor(NOW_MS / 1_000) }] } });
    expect(older.status).toBe(200);
    expect(older.body).toEqual(
      refusal(
        "field 'progressBlockTime' not found in type: '_meta'",
        "$.selectionSet._meta.selectionSet.progressBlockTime",
      ),
    );
  });

  it("has only chain_metadata before 2.28", async () => {
    await using fleet = await startEnvio();
    const { url } = fleet.endpoint("envio-2.27");

    const meta = await ask(url, "{ _meta { chainId } }");
    const old = await ask(
      url,
      "{ chain_metadata(where: { chain_id: { _eq: 1 } }) { chain_id latest_processed_block block_height } }",
    );

    const head = fleet.chain("ethereum").headAt();
    expect(meta.body).toEqual(
      refusal("field '_meta' not found in type: 'query_root'", "$.selectionSet._meta"),
    );
    expect(old.body).toEqual({
      data: { chain_metadata: [{ chain_id: 1, latest_processed_block: head, block_height: head }] },
    });
  });

  it.each([
    {
      query: "{ _meta { block { number } } }",
      answer: refusal("field 'block' not found in type: '_meta'", "$.selectionSet._meta.selectionSet.block"),
    },
    { query: "{ _meta }", answer: refusal("missing selection set for '_meta'", "$.selectionSet._meta") },
    { query: "{ _meta: { x } }", answer: refusal("not a valid graphql query", "$.query") },
  ])("refuses $query", async ({ query, answer }) => {
    await using fleet = await startEnvio();

    const seen = await ask(fleet.endpoint("envio").url, query);

    expect(seen.status).toBe(200);
    expect(seen.body).toEqual(answer);
  });

  it("is at -1 before it has started", async () => {
    await using fleet = await startEnvio();
    fleet.target("envio/base").set({ started: false });

    const seen = await ask(
      fleet.endpoint("envio").url,
      "{ _meta(where: { chainId: { _eq: 8453 } }) { progressBlock isReady progressBlockTime } }",
    );

    expect(seen.body).toEqual({
      data: { _meta: [{ progressBlock: -1, isReady: false, progressBlockTime: null }] },
    });
  });

  it("freezes what it believes to be the head together with its progress", async () => {
    await using fleet = await startEnvio();
    fleet.target("envio/base").set({ freezeAtMs: NOW_MS - 3_600_000, lagBlocks: 48 });

    const seen = await ask(
      fleet.endpoint("envio").url,
      "{ _meta(where: { chainId: { _eq: 8453 } }) { progressBlock sourceBlock } }",
    );

    const frozen = fleet.chain("base").headAt(NOW_MS - 3_600_000);
    expect(seen.body).toEqual({ data: { _meta: [{ progressBlock: frozen - 48, sourceBlock: frozen }] } });
  });

  it("lacks rows, doubles them and adds chains that nobody expects", async () => {
    await using fleet = await startEnvio();
    fleet.endpoint("envio").set({ unknownChains: 1 });
    fleet.target("envio/base").set({ rows: 0 });
    fleet.target("envio/ethereum").set({ rows: 2 });

    const seen = await ask(fleet.endpoint("envio").url, "{ _meta { chainId } }");

    expect(seen.body).toEqual({
      data: { _meta: [{ chainId: 1 }, { chainId: 1 }, { chainId: 42161 }, { chainId: 9_000_000_000 }] },
    });
  });

  it("says what it is told to say", async () => {
    await using fleet = await startEnvio();
    fleet.target("envio/ethereum").set({ says: { chainId: "1", block: 2 ** 53 + 2 } });

    const seen = await ask(
      fleet.endpoint("envio").url,
      "{ _meta(where: { chainId: { _eq: 1 } }) { chainId progressBlock } }",
    );

    expect(seen.body).toEqual({ data: { _meta: [{ chainId: "1", progressBlock: 9007199254740994 }] } });
  });

  it("has nothing for GET, nor for a body without a query", async () => {
    await using fleet = await startEnvio();
    const { url } = fleet.endpoint("envio");

    const got = await get(url);
    const posted = await post(url, "{}");

    expect(got.status).toBe(404);
    expect(got.body).toEqual({ path: "$", error: "resource does not exist", code: "not-found" });
    expect(posted.body).toMatchObject({ errors: [{ extensions: { code: "parse-failed" } }] });
  });
});
