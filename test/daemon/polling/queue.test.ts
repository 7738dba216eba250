import { describe, expect, it } from "vitest";
import { createPollQueue, type PollQueue } from "../../../src/daemon/polling/queue.ts";

describe("createPollQueue()", () => {
  it("runs no more at once than the process may", async () => {
    const queue = createPollQueue({ concurrency: 3, perHost: 2 });
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
    const queue = createPollQueue({ concurrency: 16, perHost: 2 });
    const polls = startPolls(queue, ["a", "a", "a", "b"]);
    await turn();

    expect(polls.started).toEqual(["a", "a", "b"]);
    expect([queue.inFlight(), queue.queued()]).toEqual([3, 1]);
  });

  it("lets a host that hangs take its own places only, however much waits for it", async () => {
    const queue = createPollQueue({ concurrency: 4, perHost: 3 });
    const polls = startPolls(queue, [...Array(50).fill("hangs"), "b", "c"]);
    await turn();

    expect(polls.started).toEqual(["hangs", "hangs", "hangs", "b"]);
    polls.finish("b");
    await turn();

    expect(polls.started.at(-1)).toBe("c");
  });

  it("starts the next as soon as one ends, in the order in which they came", async () => {
    const queue = createPollQueue({ concurrency: 1, perHost: 1 });
    const started: string[] = [];

    for (const host of ["a", "b", "a", "c", "b"]) {
      void queue.add(host, async () => void started.push(host));
    }
    await turn();

    expect(started).toEqual(["a", "b", "c", "a", "b"]);
    expect([queue.inFlight(), queue.queued()]).toEqual([0, 0]);
  });

  it.each([
    { concurrency: 0, perHost: 1 },
    { concurrency: 1.5, perHost: 1 },
  ])("refuses a limit that is none: $concurrency", (limits) => {
    expect(() => createPollQueue(limits)).toThrow(TypeError);
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
