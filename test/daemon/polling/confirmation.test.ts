import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Use } from "../../../src/budgets/ledger.ts";
import { type Doubt, type Polling, startPolling } from "../../../src/daemon/polling/polling.ts";
import { createHttpClient } from "../../../src/io/http-client/client.ts";
import { fleetOf } from "../../budgets/fleet-builder.ts";
import { endpointOf } from "../../support/endpoints.ts";

const SLOW = endpointOf({ schedule: "0 */10 * * * *", pollIntervalMs: 600_000 });
const MINUTELY = endpointOf({ schedule: "0 * * * * *", pollIntervalMs: 60_000 });
const T0 = Date.UTC(2026, 10, 20, 12);

beforeEach(() => {
  vi.useFakeTimers({
    now: T0,
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
  });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("startPolling() with an endpoint in doubt", () => {
  it.each([
    { every: "ten minutes", endpoint: SLOW, afterMs: 60_000 },
    { every: "minute", endpoint: MINUTELY, afterMs: 15_000 },
  ])("asks one of every $every again after $afterMs ms, from what can be spared", async (wanted) => {
    const { polling, polls, nextPollMs } = start(wanted.endpoint, ["in doubt", "settled"]);
    await using _ = polling;

    await nextPollMs();
    await vi.advanceTimersByTimeAsync(wanted.afterMs - 100);
    expect(polls).toEqual(["poll"]);
    await vi.advanceTimersByTimeAsync(200);

    expect(polls).toEqual(["poll", "spare"]);
  });

  it("asks it no more than twice between two polls of its schedule", async () => {
    const { polling, polls, nextPollMs } = start(SLOW, Array(9).fill("in doubt"));
    await using _ = polling;

    await nextPollMs();
    await vi.advanceTimersByTimeAsync(590_000);
    expect(polls).toEqual(["poll", "spare", "spare"]);
    await vi.advanceTimersByTimeAsync(600_000);

    expect(polls).toEqual(["poll", "spare", "spare", "poll", "spare", "spare"]);
  });

  it("leaves it alone once it is settled", async () => {
    const { polling, polls, nextPollMs } = start(SLOW, ["in doubt", "settled", "in doubt"]);
    await using _ = polling;

    await nextPollMs();
    await vi.advanceTimersByTimeAsync(590_000);

    expect(polls).toEqual(["poll", "spare"]);
  });

  it("asks nothing more after a stop", async () => {
    const { polling, polls, nextPollMs } = start(SLOW, ["in doubt"]);
    await nextPollMs();

    await polling[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(600_000);

    expect(polls).toEqual(["poll"]);
  });
});

/** Polls of one endpoint, which bring these doubts one after the other. */
function start(endpoint: typeof SLOW, doubts: readonly Doubt[]) {
  const polls: Use[] = [];
  const client = createHttpClient({
    timeoutMs: 1_000,
    maxResponseBytes: 1_000,
    connectionsPerHost: 1,
    userAgent: "synclag/test",
    nowMs: Date.now,
  });
  const polling: Polling = startPolling({
    fleet: fleetOf([endpoint]),
    settings: { concurrency: 8, perHost: 8, timeoutMs: 1_000, retries: 0, maxResponseBytes: 1_000 },
    client,
    firstRound: [],
    poll: (_endpoint, use) => {
      polls.push(use);
      return Promise.resolve(doubts[polls.length - 1] ?? "settled");
    },
    onSkipped: () => undefined,
    onTick: () => undefined,
    onBug: (error) => {
      throw error;
    },
    monotonicMs: () => performance.now(),
  });
  const nextPollMs = async (): Promise<void> => {
    while (polls.length === 0) {
      await vi.advanceTimersByTimeAsync(50);
    }
  };
  return { polling, polls, nextPollMs };
}
