import { describe, expect, it, vi } from "vitest";
import { createPollQueue, type PollQueue } from "../../../src/daemon/polling/queue.ts";

describe("createPollQueue()", () => {
  it("runs no more at once than the process may", async () => {
    const queue = createPollQueue({ concurrency: 3, perHost: 2 }, () => 0);
    const polls = startPolls(queue, ["a", "b", "c", "d", "e"]);
    await turn();

    expect(polls.started).toEqual(["a", "b", "c"]);
    expect([queue.inFlight(), queue.queued()]).toEqual([3, 2]);

    polls.finish("b");
    await turn();

    expect(polls.started).toEqual(["a", "b", "c", "d"]);
    expect([queue.inFlight(), queue.queued()]).toEqual([3, 1]);
  });

  it("runs no more at once than a host may be asked", async () => {
    const queue = createPollQueue({ concurrency: 16, perHost: 2 }, () => 0);
    const polls = startPolls(queue, ["a", "a", "a", "b"]);
    await turn();

    expect(polls.started).toEqual(["a", "a", "b"]);
    expect([queue.inFlight(), queue.queued()]).toEqual([3, 1]);
  });

  it("lets a host that hangs take its own places only, however much waits for it", async () => {
    const queue = createPollQueue({ concurrency: 4, perHost: 3 }, () => 0);
    const polls = startPolls(queue, [...Array(50).fill("hangs"), "b", "c"]);
    await turn();

    expect(polls.started).toEqual(["hangs", "hangs", "hangs", "b"]);
    polls.finish("b");
    await turn();

    expect(polls.started.at(-1)).toBe("c");
  });

  it("asks a host with many endpoints from the beginning, though others wait that could be asked sooner", async () => {
    const queue = createPollQueue({ concurrency: 3, perHost: 2 }, () => 0);
    const polls = startPolls(queue, ["many", "many", "a", "many", "many", "b", "c", "d"]);
    await turn();
    expect(polls.started).toEqual(["many", "many", "a"]);

    // The place that the first reply frees is taken before its host may be asked again.
    for (const host of ["many", "many", "a"]) {
      polls.finish(host);
      await turn();
    }

    expect(polls.started.slice(3)).toEqual(["b", "many", "many"]);
  });

  it("does not let several hosts that hang delay the others by more than what they have under way", async () => {
    let nowMs = 0;
    const queue = createPollQueue({ concurrency: 4, perHost: 2 }, () => nowMs);
    const hanging = ["hangs-1", "hangs-2"];
    const polls = startPolls(queue, [...Array(8).fill(hanging).flat(), "a", "b", "c", "d"]);
    await turn();
    expect(new Set(polls.started)).toEqual(new Set(hanging));

    nowMs += 10_000;
    for (const host of [...hanging, ...hanging]) {
      polls.finish(host);
      await turn();
    }

    expect(polls.started.slice(4)).toEqual(["a", "b", "c", "d"]);
  });

  it("starts the next as soon as one ends, in the order in which they came", async () => {
    const queue = createPollQueue({ concurrency: 1, perHost: 1 }, () => 0);
    const started: string[] = [];

    for (const host of ["a", "b", "a", "c", "b"]) {
      void queue.add(host, async () => {
        started.push(host);
        await turn();
      });
    }
    await vi.waitUntil(() => queue.inFlight() + queue.queued() === 0);

    expect(started).toEqual(["a", "b", "a", "c", "b"]);
  });

  it("refuses a limit that is none", () => {
    expect(() => createPollQueue({ concurrency: 0, perHost: 1 }, () => 0)).toThrow(TypeError);
  });
});

/** Queues a poll for each host named; each runs until it is finished by hand. */
function startPolls(queue: PollQueue, hosts: readonly string[]) {
  const started: string[] = [];
  const running = new Map<string, (() => void)[]>();
  for (const host of hosts) {
    void queue.add(host, () => {
      started.push(host);
      return new Promise<void>((resolve) => {
        running.set(host, [...(running.get(host) ?? []), resolve]);
      });
    });
  }
  return { started, finish: (host: string) => running.get(host)?.shift()?.() };
}

/** Lets everything happen that only waits for a turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
