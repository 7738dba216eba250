import { describe, expect, it } from "vitest";
import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { ask } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("answerSubquery()", () => {
  it("has metadata for each chain, or for the one that is asked for", async () => {
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [{ kind: "subquery", chains: ["ethereum", "base"] }],
    });
    fleet.target("subquery/base").set({ started: false });
    const { url } = fleet.endpoint("subquery");

    const all = await ask(url, "{ _metadatas { totalCount nodes { lastProcessedHeight chain } } }");
    const one = await ask(url, '{ _metadata(chainId: "8453") { chain lastProcessedTimestamp } }');

    const ethereum = { lastProcessedHeight: fleet.chain("ethereum").headAt(), chain: "1" };
    expect(all.body).toEqual({
      data: {
        _metadatas: { totalCount: 2, nodes: [ethereum, { lastProcessedHeight: null, chain: "8453" }] },
      },
    });
    expect(one.body).toEqual({ data: { _metadata: { chain: "8453", lastProcessedTimestamp: null } } });
  });

  it("refuses an unknown field with HTTP 400", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "subquery" }] });

    const seen = await ask(fleet.endpoint("subquery").url, "{ _metadata { height } }");

    expect(seen.status).toBe(400);
    expect(seen.body).toMatchObject({
      errors: [{ message: 'Cannot query field "height" on type "_Metadata".' }],
    });
  });
});
