import { describe, expect, it } from "vitest";
import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { hashOf } from "../../../src/sim/model/chain-model.ts";
import { ask, get } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("answerSquid()", () => {
  it("answers with the newest block and the finalized one, and -1 before it has started", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "squid" }] });
    const { url } = fleet.endpoint("squid");
    const height = fleet.chain("base").headAt();

    const running = await ask(url, "{ squidStatus { height hash finalizedHeight } }");
    fleet.target("squid/base").set({ started: false });
    const fresh = await ask(url, "{ squidStatus { height hash } }");

    const hash = hashOf(8453, height, "main");
    expect(running.body).toEqual({ data: { squidStatus: { height, hash, finalizedHeight: height - 64 } } });
    expect(fresh.body).toEqual({ data: { squidStatus: { height: -1, hash: "0x" } } });
  });

  it("refuses an unknown field with HTTP 400", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "squid" }] });

    const seen = await ask(fleet.endpoint("squid").url, "{ _meta { block { number } } }");
    const page = await get(fleet.endpoint("squid").url);

    expect(seen.status).toBe(400);
    expect(seen.body).toMatchObject({
      errors: [
        {
          message: 'Cannot query field "_meta" on type "Query".',
          extensions: { code: "GRAPHQL_VALIDATION_FAILED" },
        },
      ],
    });
    expect(page.status).toBe(200);
  });
});
