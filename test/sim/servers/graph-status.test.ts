import { describe, expect, it } from "vitest";
import { interpret } from "../../../src/dialects/interpret.ts";
import { questionsFor } from "../../../src/dialects/registry.ts";
import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { endpointOf } from "../../dialects/endpoint-of.ts";
import { replyOf } from "../../dialects/read-fixture.ts";
import { ask, post } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("answerGraphStatus()", () => {
  it("tells of the deployments that it is asked for, and why one failed", async () => {
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [{ kind: "graph-status", chains: ["ethereum", "base"] }],
    });
    const { url, targets } = fleet.endpoint("graph-status");
    fleet.target("graph-status/base").set({ indexingErrors: true });
    const plain = endpointOf(
      "graph-status",
      targets.map(({ chain }) => chain.id),
    );
    const endpoint = {
      ...plain,
      targets: plain.targets.map((target, index) => ({
        ...target,
        deployment: String(targets[index]?.behaviour.deployment),
      })),
    };
    const [question] = questionsFor(endpoint);
    if (question === undefined) {
      throw new RangeError("Cannot ask: dialect graph-status has no question");
    }

    const seen = await post(url, JSON.stringify(question.body));
    const answer = interpret({
      endpoint,
      question,
      reply: replyOf(JSON.stringify(seen.body)),
      nowMs: NOW_MS,
    });

    const block = (slug: string) => fleet.target(`graph-status/${slug}`).heightAt();
    expect(answer).toMatchObject({
      outcomes: [
        { kind: "head", head: { block: block("ethereum"), indexingErrors: false } },
        {
          kind: "head",
          head: {
            block: block("base"),
            failure: expect.stringMatching(/^failed at block [\d,]+ in handleBlock: Mapping aborted/),
          },
        },
      ],
    });
  });

  it("has no _meta", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-status" }] });

    const seen = await ask(fleet.endpoint("graph-status").url, "{ _meta { block { number } } }");

    expect(seen.body).toEqual({ errors: [{ message: "Type `Query` has no field `_meta` " }] });
  });
});
