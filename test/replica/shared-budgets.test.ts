import { describe, expect, it } from "vitest";
import { HOURLY, lived, type SharedLife, type Step } from "../support/shared-budget-life.ts";

const MINUTE_MS = 60_000;
/** What the schedule of `HOURLY`, every three minutes, asks for in five. */
const ADVANCE = 2;

describe("SharedBudgets, while the store is unreachable", () => {
  it("let the leader send what its schedules ask for in five minutes, and no more", async () => {
    const life = await lived([poll(0, 1), { kind: "cut off", who: 0 }, poll(0, 10)]);

    expect(sentIn(life)).toBe(1 + ADVANCE);
  });

  it("let it send nothing five minutes after it last heard of the store, and all again once it is back", async () => {
    const life = await lived([poll(0, 1), { kind: "cut off", who: 0 }, wait(5), poll(0, 10)]);
    const away = sentIn(life);
    await life.live({ kind: "reconnect", who: 0 });
    await life.live(poll(0, 10));

    expect([away, sentIn(life)]).toEqual([1, 11]);
  });

  it("refuse requests of people, retries and standbys", async () => {
    const people = { ...poll(0, 10), use: "opportunistic" } as const;

    const life = await lived([
      poll(0, 1),
      { kind: "cut off", who: 0 },
      { kind: "cut off", who: 1 },
      people,
      poll(1, 10),
    ]);

    expect(sentIn(life)).toBe(1);
  });
});

describe("SharedBudgets, under another leader", () => {
  it("count as sent what a killed leader may have sent, once in six and a half minutes", async () => {
    const life = await lived([poll(0, 1)]);

    for (const who of [1, 0, 1] as const) {
      await life.live({ kind: "crash", who: who === 1 ? 0 : 1 });
      await life.live({ kind: "take over", who });
      await life.live(wait(0.1));
    }
    const soon = life.usedBy(1);
    await life.live(wait(7));
    await life.live({ kind: "crash", who: 1 });
    await life.live({ kind: "take over", who: 0 });

    expect([soon, life.usedBy(0)]).toEqual([1 + ADVANCE, 1 + 2 * ADVANCE]);
  });

  it("count nothing more for a leader that stopped in order", async () => {
    const life = await lived([poll(0, 3), { kind: "stop", who: 0 }, { kind: "take over", who: 1 }]);

    expect(life.usedBy(1)).toBe(3);
  });

  it("let the successor send nothing unrecorded while the former leader still may", async () => {
    const life = await lived([
      poll(0, 1),
      { kind: "cut off", who: 0 },
      { kind: "take over", who: 1 },
      wait(1),
      { kind: "cut off", who: 1 },
      poll(1, 10),
      poll(0, 10),
    ]);

    expect(sentIn(life)).toBe(1 + ADVANCE);
  });

  it("never exceed the limit, even if the former leader sends at its last moment", async () => {
    const life = await lived([
      poll(0, 1),
      { kind: "cut off", who: 0 },
      { kind: "take over", who: 1 },
      { kind: "wait", ms: 4.9 * MINUTE_MS },
      poll(0, 10),
      { kind: "wait", ms: 59.5 * MINUTE_MS },
      poll(1, 30),
    ]);

    expect(sentIn(life)).toBeGreaterThan(20);
    expect(life.mostInAWindow(HOURLY)).toBeLessThanOrEqual(HOURLY.limit);
  });

  it("let nothing through with a token older than the lease's", async () => {
    const life = await lived([poll(0, 2), { kind: "take over", who: 1 }, poll(0, 2)]);
    const former = sentIn(life);
    await life.live(poll(1, 2));

    expect([former, sentIn(life)]).toEqual([2, 4]);
  });
});

function poll(who: 0 | 1, times: number): Extract<Step, { kind: "poll" }> {
  return { kind: "poll", who, endpoint: 0, use: "scheduled", times, crash: "none", loses: "nothing" };
}

function wait(minutes: number): Step {
  return { kind: "wait", ms: minutes * MINUTE_MS };
}

function sentIn(life: SharedLife): number {
  return life.sent.get(HOURLY.name)?.length ?? 0;
}
