import { describe, expect, it } from "vitest";

import { startFleet } from "../../src/sim/simulated-fleet.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("startFleet()", () => {
  it("serves one subgraph in three lines", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });

    const response = await fetch(fleet.endpoint("graph-node").url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: "{ _meta { block { number } } }" }),
    });

    expect(await response.json()).toEqual({
      data: { _meta: { block: { number: fleet.chain("base").headAt() } } },
    });
  });
});
