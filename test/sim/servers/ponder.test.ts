import { describe, expect, it } from "vitest";

import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { ask, get } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("answerPonder()", () => {
  it("names each chain, with its id inside, and has no block while it back-fills", async () => {
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [{ kind: "ponder", chains: ["ethereum", "base"] }],
    });
    fleet.target("ponder/base").set({ started: false });
    const { url } = fleet.endpoint("ponder");
    const number = fleet.chain("ethereum").headAt();
    const status = {
      ethereum: { id: 1, block: { number, timestamp: NOW_MS / 1_000 } },
      base: { id: 8453, block: null },
    };

    const asked = await ask(url, "{ _meta { status } }");
    const got = await get(`${url}status`);

    expect(asked.body).toEqual({ data: { _meta: { status } } });
    expect(got.body).toEqual(status);
  });

  it.each([
    { query: "{ _meta { block { number } } }", message: 'Cannot query field "block" on type "Meta".' },
    {
      query: "{ chain_metadata { chain_id } }",
      message: 'Cannot query field "chain_metadata" on type "Query".',
    },
    {
      query: "{ _meta }",
      message:
        'Field "_meta" of type "Meta" must have a selection of subfields. Did you mean "_meta { ... }"?',
    },
    { query: "{", message: "Syntax Error: Expected Name, found <EOF>.", code: "GRAPHQL_PARSE_FAILED" },
  ])("refuses $query", async ({ query, message, code = "GRAPHQL_VALIDATION_FAILED" }) => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "ponder" }] });

    const seen = await ask(fleet.endpoint("ponder").url, query);

    expect(seen.body).toMatchObject({ errors: [{ message, extensions: { code } }] });
  });
});
