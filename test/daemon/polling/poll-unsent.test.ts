import { describe, expect, it } from "vitest";
import type { Grant } from "../../../src/budgets/grant.ts";
import { poll } from "../../../src/daemon/polling/poll.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { recordPolls } from "../../support/recorded-polls.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const EMPTY: Grant = { kind: "refused", reason: "budget", detail: "not sent: budget studio: all used" };
const REFUSED: Grant = { kind: "refused", reason: "rate_limited", detail: "the provider refused us" };

describe("poll() that may not be sent", () => {
  it.each([
    { case: "our own budget is empty", drawn: EMPTY, counted: ["budget"] },
    // Its refusal was counted when it came.
    { case: "the provider wants to be left alone", drawn: REFUSED, counted: [] },
  ])("says so of its target when $case", async ({ drawn, counted }) => {
    const { result, failures, refusals } = await pollWith("poll", drawn);

    expect(result.observations).toMatchObject([{ ...drawn, kind: "failed", sentAtMs: NOW_MS }]);
    expect(failures.map(({ reason }) => reason)).toEqual(counted);
    expect(refusals).toEqual([]);
  });

  it.each([{ drawn: EMPTY }, { drawn: REFUSED }])(
    "says nothing of anybody when it is but a second look: $drawn.reason",
    async ({ drawn }) => {
      const { result, failures } = await pollWith("spare", drawn);

      expect([result.observations, failures]).toEqual([[], []]);
    },
  );
});

async function pollWith(use: "poll" | "spare", drawn: Grant) {
  const recorded = recordPolls({
    post: () => Promise.reject(new Error("Cannot send: nothing may be")),
    nowMs: () => NOW_MS,
    use,
  });
  const result = await poll(endpointOf(), 0, { ...recorded.ports, draw: () => Promise.resolve(drawn) });
  return { ...recorded, result };
}
