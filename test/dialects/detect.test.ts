import { describe, expect, it } from "vitest";
import { interpret } from "../../src/dialects/interpret.ts";
import { DIALECTS, questionsFor } from "../../src/dialects/registry.ts";
import { startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { post } from "../sim/ask.ts";
import { endpointOf } from "./endpoint-of.ts";
import { replyOf } from "./read-fixture.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("dialect auto", () => {
  it.each([
    { kind: "graph-node", dialect: "graph", chains: ["base"] },
    { kind: "envio", dialect: "envio", chains: ["ethereum", "base"] },
    { kind: "envio-2.27", dialect: "envio", chains: ["ethereum", "base"] },
    { kind: "ponder", dialect: "ponder", chains: ["ethereum", "base"] },
    { kind: "squid", dialect: "squid", chains: ["base"] },
    { kind: "subquery", dialect: "subquery", chains: ["ethereum", "base"] },
    { kind: "subquery", dialect: "subquery", chains: ["base"] },
  ] as const)("finds $dialect at a simulated $kind of $chains", async ({ kind, dialect, chains }) => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind, chains }] });
    const { url, targets } = fleet.endpoint(kind);
    const endpoint = endpointOf(
      "auto",
      targets.map(({ chain }) => chain.id),
    );

    const found = [];
    for (const question of questionsFor(endpoint)) {
      const seen = await post(url, JSON.stringify(question.body));
      const reply = replyOf(JSON.stringify(seen.body), { httpStatus: seen.status });
      const answer = interpret({ endpoint, question, reply, nowMs: NOW_MS });
      if (answer.kind === "answered") {
        found.push({ question, answer });
      }
    }

    const [first] = found;
    expect(DIALECTS[dialect].questions).toContain(first?.question);
    expect(first?.answer.outcomes).toMatchObject(
      targets.map((target) => ({ kind: "head", head: { block: target.heightAt() } })),
    );
  });
});
