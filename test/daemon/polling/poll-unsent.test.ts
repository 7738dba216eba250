import { describe, expect, it } from "vitest";
import type { Grant } from "../../../src/budgets/grant.ts";
import { poll } from "../../../src/daemon/polling/poll.ts";
import { NEW_SEARCH } from "../../../src/dialects/fallback-query.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { recordPolls } from "../../support/recorded-polls.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const EMPTY: Grant = { kind: "refused", reason: "budget", detail: "not sent: budget studio: all used" };
const REFUSED: Grant = { kind: "refused", reason: "rate_limited", detail: "rate-limited by provider" };

describe("poll() that is not granted", () => {
  it.each([
    { case: "our own budget is empty", grant: EMPTY, counted: ["budget"] },
    // The refusal was counted when it came.
    { case: "the provider asked us to wait", grant: REFUSED, counted: [] },
  ])("observes that for its target when $case", async ({ grant, counted }) => {
    const { result, failures, refusals } = await pollWith("scheduled", grant);

    expect(result.observations).toMatchObject([{ ...grant, kind: "failed", sentAtMs: NOW_MS }]);
    expect(failures.map(({ reason }) => reason)).toEqual(counted);
    expect(refusals).toEqual([]);
  });

  it.each([{ grant: EMPTY }, { grant: REFUSED }])(
    "observes nothing when it is a confirmation poll: $grant.reason",
    async ({ grant }) => {
      const { result, failures } = await pollWith("opportunistic", grant);

      expect([result.observations, failures]).toEqual([[], []]);
    },
  );
});

async function pollWith(use: "scheduled" | "opportunistic", grant: Grant) {
  const recorded = recordPolls({
    post: () => Promise.reject(new Error("Cannot send: nothing may be")),
    nowMs: () => NOW_MS,
    use,
  });
  const result = await poll(endpointOf(), NEW_SEARCH, {
    ...recorded.ports,
    acquire: () => Promise.resolve(grant),
  });
  return { ...recorded, result };
}
