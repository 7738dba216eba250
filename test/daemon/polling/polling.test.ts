import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Endpoint, Fleet } from "../../../src/core/model/fleet.ts";
import { type Polling, type PollingOptions, startPolling } from "../../../src/daemon/polling/polling.ts";
import { createPollQueue } from "../../../src/daemon/polling/queue.ts";
import { createHttpClient } from "../../../src/io/http-client/client.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { startRawServer } from "../../support/raw-server.ts";

const BASE = endpointOf({ key: "a/subgraph/production/base", schedule: "*/10 * * * * *" });
const MODE = endpointOf({
  key: "a/subgraph/production/mode",
  chain: "mode",
  name: "mode",
  schedule: "0 * * * * *",
});
const ALL = endpointOf({
  key: "a/multichain/production/all",
  variant: "multichain",
  name: "all",
  chain: null,
  schedule: "*/10 * * * * *",
});

beforeEach(() => {
  vi.useFakeTimers({
    now: Date.UTC(2026, 10, 20, 12),
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
  });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("startPolling()", () => {
  it("asks everything once at the start, in the order of any round", async () => {
    const { polled, polling } = start([ALL, BASE, MODE]);
    await using _ = polling;

    await vi.advanceTimersByTimeAsync(0);

    expect(polled).toEqual([BASE.key, ALL.key, MODE.key]);
  });

  it("asks only what has never been polled", async () => {
    const { polled, polling } = start([BASE, MODE, ALL], { firstRound: [MODE] });
    await using _ = polling;

    await vi.advanceTimersByTimeAsync(4_000);

    expect(polled).toEqual([MODE.key]);
  });

  it("asks together what is due at one instant, and nothing else", async () => {
    const { polled, polling } = start([BASE, MODE, ALL], { firstRound: [] });
    await using _ = polling;

    await vi.advanceTimersByTimeAsync(20_100);

    expect(polled).toEqual([BASE.key, ALL.key, BASE.key, ALL.key]);
  });

  it("counts a round that finds the former one under way, and ticks each second", async () => {
    let ticks = 0;
    const { skipped } = start([BASE], {
      firstRound: [],
      poll: () => new Promise(() => undefined),
      onTick: () => {
        ticks += 1;
      },
    });

    await vi.advanceTimersByTimeAsync(30_100);

    expect(skipped).toEqual(["subgraph", "subgraph"]);
    expect(ticks).toBe(30);
  });

  it("says at a reload when the last poll has ended, before the client is closed", async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const events: string[] = [];
    const client = clientOf();
    const { polling } = start([BASE], {
      client: { ...client, [Symbol.asyncDispose]: () => Promise.resolve(void events.push("closed")) },
      poll: async () => {
        await answered;
        events.push("ended");
      },
      onStopped: () => events.push("stopped"),
    });

    await vi.advanceTimersByTimeAsync(0);
    const retired = polling.retire();
    await vi.advanceTimersByTimeAsync(1_000);
    events.push("waited");
    answer();
    await retired;

    expect(events).toEqual(["waited", "ended", "stopped", "closed"]);
    await client[Symbol.asyncDispose]();
  });

  it("stops: nothing is asked any more, and what is under way is cut off and waited for", async () => {
    let arrived: () => void = () => undefined;
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    await using silent = await startRawServer({ onRequest: () => arrived() });
    const client = clientOf();
    const ends: string[] = [];
    const { polled, polling } = start([BASE], {
      client,
      poll: async () => {
        const result = await client.post({ url: silent.url, headers: {}, body: {} });
        ends.push(result.kind === "failed" ? result.reason : result.kind);
      },
      onStopped: () => ends.push("stopped"),
    });
    await vi.advanceTimersByTimeAsync(4_000);
    await arrival;

    await polling[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(120_000);

    expect(ends).toEqual(["aborted", "stopped"]);
    expect(polled).toEqual([BASE.key]);
  });
});

interface Started {
  readonly polling: Polling;
  readonly polled: string[];
  readonly skipped: string[];
}

function start(endpoints: readonly Endpoint[], wanted: Partial<PollingOptions> = {}): Started {
  const polled: string[] = [];
  const skipped: string[] = [];
  const polling = startPolling({
    fleet: fleetOf(endpoints),
    queue: createPollQueue({ concurrency: 8, perHost: 8 }, () => 0),
    underWay: new Map(),
    client: clientOf(),
    firstRound: endpoints,
    onSkipped: ({ variant }) => skipped.push(variant),
    onTick: () => undefined,
    onStopped: () => undefined,
    onBug: (error) => {
      throw error;
    },
    monotonicMs: () => performance.now(),
    ...wanted,
    poll: async (endpoint, use, onObserved) => {
      polled.push(endpoint.key);
      await wanted.poll?.(endpoint, use, onObserved);
    },
  });
  return { polling, polled, skipped };
}

function clientOf() {
  return createHttpClient({
    timeoutMs: 60_000,
    maxResponseBytes: 1_000,
    connectionsPerHost: 1,
    userAgent: "synclag/test",
    nowMs: Date.now,
  });
}

function fleetOf(endpoints: readonly Endpoint[]): Fleet {
  const indexers = [{ protocol: "a", variant: "subgraph", tier: "production", endpoints }];
  return { chains: [], indexers, rpcEndpoints: [], budgets: [], skipped: [], parity: [] };
}
