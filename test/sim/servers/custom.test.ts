import { describe, expect, it } from "vitest";
import { interpret } from "../../../src/dialects/interpret.ts";
import { questionsFor } from "../../../src/dialects/registry.ts";
import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { SIMULATED_CUSTOM_QUERY } from "../../../src/sim/servers/custom.ts";
import { endpointOf } from "../../dialects/endpoint-of.ts";
import { replyOf } from "../../dialects/read-fixture.ts";
import { post } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("answerCustom()", () => {
  it("has a row for each chain, which its own query and paths read", async () => {
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [{ kind: "custom", chains: ["ethereum", "base", "arbitrum"] }],
    });
    const { url, targets } = fleet.endpoint("custom");
    fleet.target("custom/base").set({ indexingErrors: true });
    fleet.target("custom/arbitrum").set({ started: false });
    const endpoint = {
      ...endpointOf(
        "custom",
        targets.map(({ chain }) => chain.id),
      ),
      custom: SIMULATED_CUSTOM_QUERY,
    };
    const [question] = questionsFor(endpoint);
    if (question === undefined) {
      throw new RangeError("Cannot ask: dialect custom has no question");
    }

    const seen = await post(url, JSON.stringify(question.body));
    const answer = interpret({
      endpoint,
      question,
      reply: replyOf(JSON.stringify(seen.body)),
      nowMs: NOW_MS,
    });

    const block = (slug: string) => fleet.target(`custom/${slug}`).heightAt();
    expect(answer).toMatchObject({
      outcomes: [
        {
          kind: "head",
          head: { block: block("ethereum"), timestampSec: NOW_MS / 1_000, indexingErrors: false },
        },
        { kind: "head", head: { block: block("base"), indexingErrors: true } },
        { kind: "not_started" },
      ],
    });
  });
});
