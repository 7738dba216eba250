import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import { createPollQueue } from "../../../src/daemon/polling/queue.ts";
import { type PollsUnderWay, Rounds } from "../../../src/daemon/polling/rounds.ts";
import { endpointOf } from "../../support/endpoints.ts";

const BASE = endpointOf({ key: "airdrops/subgraph/production/base", name: "base" });
const MODE = endpointOf({ key: "airdrops/subgraph/production/mode", name: "mode" });
const ALL = endpointOf({
  key: "airdrops/multichain/production/all",
  variant: "multichain",
  name: "all",
  host: "elsewhere",
});

describe("Rounds.start()", () => {
  it("polls in the order given", async () => {
    const { rounds, polled } = setUp({ concurrency: 1 });

    rounds.start([MODE, ALL, BASE]);
    await polled.finishAll();

    expect(polled.started).toEqual([MODE.key, ALL.key, BASE.key]);
  });

  it("never polls an endpoint twice at once, and counts a skipped round once for an indexer", async () => {
    const { rounds, polled, skipped } = setUp();
    rounds.start([BASE, MODE, ALL]);
    await turn();

    rounds.start([BASE, MODE, ALL]);
    await turn();

    expect(polled.started).toHaveLength(3);
    expect(skipped).toEqual(["airdrops/subgraph/production", "airdrops/multichain/production"]);
  });

  it("polls those that are free where others are still under way", async () => {
    const { rounds, polled, skipped } = setUp();
    rounds.start([BASE]);
    await turn();

    rounds.start([BASE, MODE]);
    await turn();

    expect(polled.started).toEqual([BASE.key, MODE.key]);
    expect(skipped).toEqual(["airdrops/subgraph/production"]);
  });

  it("takes one that still waits for a place for under way", async () => {
    const { rounds, polled, skipped } = setUp({ concurrency: 1 });
    rounds.start([BASE, MODE]);
    await turn();

    rounds.start([MODE]);
    await polled.finishAll();

    expect(polled.started).toEqual([BASE.key, MODE.key]);
    expect(skipped).toHaveLength(1);
  });

  it("polls again once the former poll has ended, however it ended", async () => {
    const { rounds, polled, bugs, skipped } = setUp();
    rounds.start([BASE]);
    await turn();
    polled.fail(new Error("bug"));
    await turn();

    rounds.start([BASE]);
    await turn();

    expect(polled.started).toEqual([BASE.key, BASE.key]);
    expect(bugs).toEqual([new Error("bug")]);
    expect(skipped).toEqual([]);
  });

  it("tells a bug, and goes on with what waits", async () => {
    const { rounds, polled, bugs } = setUp({ concurrency: 1 });
    rounds.start([BASE, MODE]);
    await turn();

    polled.fail(new TypeError("bug"));
    await turn();

    expect(bugs).toEqual([new TypeError("bug")]);
    expect(polled.started).toEqual([BASE.key, MODE.key]);
  });
});

describe("Rounds.longestMs()", () => {
  it("is the age of the oldest poll, without its wait in the queue", async () => {
    const clock = { nowMs: 1_000 };
    const { rounds, polled } = setUp({ concurrency: 1, clock });
    expect(rounds.longestMs()).toBe(0);

    rounds.start([BASE, MODE]);
    await turn();
    clock.nowMs += 5_000;
    const ofFirst = rounds.longestMs();
    polled.finish();
    await turn();
    clock.nowMs += 300;
    const ofSecond = rounds.longestMs();
    await polled.finishAll();

    expect([ofFirst, ofSecond, rounds.longestMs()]).toEqual([5_000, 300, 0]);
  });
});

describe("Rounds.stop()", () => {
  it("gives up what waits, and waits for what is under way", async () => {
    const { rounds, polled } = setUp({ concurrency: 1 });
    rounds.start([BASE, MODE, ALL]);
    await turn();

    let isStopped = false;
    const stopping = rounds.stop().then(() => {
      isStopped = true;
    });
    await turn();
    const early = isStopped;
    polled.finish();
    await stopping;

    expect(early).toBe(false);
    expect(polled.started).toEqual([BASE.key]);
    expect(rounds.longestMs()).toBe(0);
  });

  it("leaves polls under way to a later configuration, and drops those that wait", async () => {
    const underWay: PollsUnderWay = new Map();
    const before = setUp({ concurrency: 1, underWay });
    const after = setUp({ underWay });
    before.rounds.start([BASE, MODE]);
    await turn();

    const stopped = before.rounds.stop();
    after.rounds.start([BASE, MODE, { ...BASE, url: "http://127.0.0.1:9/elsewhere" }]);
    await turn();
    before.polled.finish();
    await stopped;
    after.rounds.start([BASE]);
    await turn();

    expect(before.polled.started).toEqual([BASE.key]);
    expect(after.polled.started).toEqual([MODE.key, BASE.key, BASE.key]);
  });

  it("starts nothing more", async () => {
    const { rounds, polled } = setUp();

    await rounds.stop();
    rounds.start([BASE]);
    await turn();

    expect(polled.started).toEqual([]);
  });
});

interface SetUp {
  readonly concurrency?: number;
  readonly clock?: { nowMs: number };
  readonly underWay?: PollsUnderWay;
}

function setUp({ concurrency = 8, clock = { nowMs: 0 }, underWay = new Map() }: SetUp = {}) {
  const polled = new HandPolls();
  const skipped: string[] = [];
  const bugs: unknown[] = [];
  const rounds = new Rounds({
    queue: createPollQueue({ concurrency, perHost: 8 }, () => 0),
    underWay,
    poll: (endpoint) => polled.poll(endpoint),
    onSkipped: ({ protocol, variant, tier }) => skipped.push(`${protocol}/${variant}/${tier}`),
    onBug: (error) => bugs.push(error),
    monotonicMs: () => clock.nowMs,
  });
  return { rounds, polled, skipped, bugs };
}

/** Polls that end when they are told to, the oldest first. */
class HandPolls {
  readonly started: string[] = [];
  readonly #running: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];

  poll(endpoint: Endpoint): Promise<void> {
    this.started.push(endpoint.key);
    return new Promise((resolve, reject) => {
      this.#running.push({ resolve, reject });
    });
  }

  finish(): void {
    this.#running.shift()?.resolve();
  }

  fail(error: Error): void {
    this.#running.shift()?.reject(error);
  }

  async finishAll(): Promise<void> {
    await turn();
    while (this.#running.length > 0) {
      this.finish();
      await turn();
    }
  }
}

/** Lets everything happen that only waits for a turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
