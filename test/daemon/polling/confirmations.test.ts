import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Use } from "../../../src/budgets/ledger.ts";
import type { Stability } from "../../../src/daemon/polling/confirmations.ts";
import { type Polling, startPolling } from "../../../src/daemon/polling/polling.ts";
import { createPollQueue } from "../../../src/daemon/polling/queue.ts";
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

describe("startPolling() with a changing target", () => {
  it.each([
    { every: "ten minutes", endpoint: SLOW, afterMs: 60_000 },
    { every: "minute", endpoint: MINUTELY, afterMs: 15_000 },
  ])("polls an endpoint of every $every again after $afterMs ms, opportunistically", async (wanted) => {
    const { polling, polls, nextPollMs } = start(wanted.endpoint, ["changing", "stable"]);
    await using _ = polling;

    await nextPollMs();
    await vi.advanceTimersByTimeAsync(wanted.afterMs - 100);
    expect(polls).toEqual(["scheduled"]);
    await vi.advanceTimersByTimeAsync(200);

    expect(polls).toEqual(["scheduled", "opportunistic"]);
  });

  it("polls it again no more than twice between two scheduled polls", async () => {
    const { polling, polls, nextPollMs } = start(SLOW, Array(9).fill("changing"));
    await using _ = polling;

    await nextPollMs();
    await vi.advanceTimersByTimeAsync(590_000);
    expect(polls).toEqual(["scheduled", "opportunistic", "opportunistic"]);
    await vi.advanceTimersByTimeAsync(600_000);

    expect(polls).toEqual([
      "scheduled",
      "opportunistic",
      "opportunistic",
      "scheduled",
      "opportunistic",
      "opportunistic",
    ]);
  });

  it("stops once it is stable", async () => {
    const { polling, polls, nextPollMs } = start(SLOW, ["changing", "stable", "changing"]);
    await using _ = polling;

    await nextPollMs();
    await vi.advanceTimersByTimeAsync(590_000);

    expect(polls).toEqual(["scheduled", "opportunistic"]);
  });

  it("polls nothing more after a stop", async () => {
    const { polling, polls, nextPollMs } = start(SLOW, ["changing"]);
    await nextPollMs();

    await polling[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(600_000);

    expect(polls).toEqual(["scheduled"]);
  });
});

/** Polls of one endpoint that show these one after the other. */
function start(endpoint: typeof SLOW, shown: readonly Stability[]) {
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
    queue: createPollQueue({ concurrency: 8, perHost: 8 }, () => 0),
    underWay: new Map(),
    client,
    firstRound: [],
    poll: (_endpoint, use, onObserved) => {
      polls.push(use);
      onObserved(shown[polls.length - 1] ?? "stable");
      return Promise.resolve();
    },
    onStopped: () => undefined,
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
