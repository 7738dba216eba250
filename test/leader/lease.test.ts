import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLeaseClock } from "../../src/leader/leadership.ts";
import {
  ACT_MS,
  foldLease,
  isCallDue,
  LEASE_MS,
  type Lease,
  type LeaseEvent,
  NEW_LEASE,
  priorityOf,
  roleOf,
  tokenOf,
} from "../../src/leader/lease.ts";

describe("roleOf()", () => {
  it("is leader until the lease may be given to another, and then unsure", () => {
    const lease = fold([[{ kind: "granted", calledMs: 0, token: 7 }, 500]]);

    expect([500, ACT_MS - 1, ACT_MS].map((nowMs) => roleOf(lease, nowMs))).toEqual([
      "leader",
      "leader",
      "unsure",
    ]);
    expect(tokenOf(lease, ACT_MS)).toBeNull();
    expect(ACT_MS).toBeLessThan(LEASE_MS);
  });

  it("is cut off after the store has been unreachable for a while", () => {
    const failures = [4_000, 5_000, 6_000, 7_000, 8_000, 9_000].map(failedAt);
    const lease = fold([[{ kind: "granted", calledMs: 0, token: 7 }, 0], ...failures]);

    expect(roleOf(lease, 9_999)).toBe("leader");
    expect(roleOf(lease, 10_000)).toBe("cut_off");
    expect(tokenOf(lease, 10_000)).toBeNull();
  });

  it("is unsure after a pause, until calls have failed for two seconds", () => {
    const before = fold([
      [{ kind: "granted", calledMs: 0, token: 7 }, 0],
      failedAt(4_000),
      failedAt(5_000),
      failedAt(6_000),
    ]);
    const [pausedMs, resumedMs] = [6_100, 66_000];
    const late = foldLease(before, { kind: "failed", calledMs: pausedMs }, resumedMs);

    expect(roleOf(before, resumedMs)).toBe("unsure");
    expect(isCallDue(before, resumedMs)).toBe(true);
    expect(roleOf(late, resumedMs)).toBe("unsure");
    expect(roleOf(fold([failedAt(67_000), failedAt(68_000)], late), 68_000)).toBe("cut_off");
  });
});

describe("priorityOf()", () => {
  it("is first for the last leader that was cut off, and last for a replica that has just missed the store", () => {
    const leader = fold([
      [{ kind: "granted", calledMs: 0, token: 7 }, 0],
      ...[4_000, 6_000, 8_000, 10_000].map(failedAt),
    ]);
    const missed = fold([failedAt(9_000), failedAt(10_000)]);
    const back = foldLease(missed, { kind: "vacant", token: 7 }, 11_000);

    expect(priorityOf(leader, 10_500)).toBe("first");
    expect(priorityOf(NEW_LEASE, 0)).toBe("usual");
    expect(priorityOf(missed, 10_500)).toBe("last");
    expect([15_999, 16_000].map((nowMs) => priorityOf(back, nowMs))).toEqual(["last", "usual"]);
  });
});

describe("isCallDue()", () => {
  it("renews every three seconds, repeats a failed call after one, and watches twice a second", () => {
    const granted = fold([[{ kind: "granted", calledMs: 0, token: 7 }, 100]]);
    const failed = foldLease(granted, { kind: "failed", calledMs: 3_000 }, 4_000);
    const refused = foldLease(NEW_LEASE, { kind: "refused", token: 7 }, 100);

    expect(isCallDue(NEW_LEASE, 0)).toBe(true);
    expect([2_999, 3_000].map((nowMs) => isCallDue(granted, nowMs))).toEqual([false, true]);
    expect([4_999, 5_000].map((nowMs) => isCallDue(failed, nowMs))).toEqual([false, true]);
    expect([599, 600].map((nowMs) => isCallDue(refused, nowMs))).toEqual([false, true]);
    expect(isCallDue(foldLease(granted, { kind: "called" }, 3_000), 20_000)).toBe(false);
  });
});

describe("createLeaseClock()", () => {
  it("advances with the faster clock, and never goes back", () => {
    let [wall, monotonic] = [1_000, 0];
    const clock = createLeaseClock({ nowMs: () => wall, monotonicMs: () => monotonic });
    const readings = [
      [1_100, 100],
      [61_100, 200],
      [1_200, 300],
    ].map((at) => {
      [wall, monotonic] = [at[0] ?? 0, at[1] ?? 0];
      return clock();
    });

    expect(readings).toEqual([100, 60_100, 60_200]);
  });
});

describe("the lease of several replicas", () => {
  it("is never held by two at once, whatever is paused, cut off, late or forgotten, and never free for long", () => {
    fc.assert(
      fc.property(
        fc.array(stepArbitrary(), { minLength: 20, maxLength: 300 }),
        fc.array(fc.double({ min: 0.95, max: 1.05, noNaN: true }), { minLength: 3, maxLength: 3 }),
        (steps, rates) => {
          const cluster = new Cluster(rates);
          for (const step of steps) {
            cluster.step(step);
            expect(cluster.leaders().length).toBeLessThanOrEqual(1);
            expect(cluster.staleDraws).toBe(0);
          }
          cluster.heal();
          for (let time = 0; time < 20_000; time += 250) {
            cluster.step({ kind: "pass", ms: 250 });
            expect(cluster.leaders().length).toBeLessThanOrEqual(1);
          }
          expect(cluster.leaders()).toHaveLength(1);
        },
      ),
      { numRuns: 100 },
    );
  });
});

type Step =
  | { readonly kind: "pass"; readonly ms: number }
  | {
      readonly kind: "pause" | "resume" | "cut" | "join" | "deliver" | "lose" | "crash";
      readonly who: number;
    }
  | { readonly kind: "wipe" };

function stepArbitrary(): fc.Arbitrary<Step> {
  const who = fc.nat({ max: 2 });
  const of = (kind: Exclude<Step["kind"], "pass" | "wipe">) => fc.record({ kind: fc.constant(kind), who });
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.nat({ max: 4_000 }) }) },
    { weight: 8, arbitrary: of("deliver") },
    { weight: 2, arbitrary: of("lose") },
    of("pause"),
    { weight: 2, arbitrary: of("resume") },
    of("cut"),
    { weight: 2, arbitrary: of("join") },
    of("crash"),
    fc.constant({ kind: "wipe" as const }),
  );
}

interface Call {
  readonly id: number;
  readonly held: number | null;
  readonly highest: number;
  readonly priority: "first" | "usual" | "last";
  readonly calledMs: number;
}

interface Replica {
  lease: Lease;
  clockMs: number;
  id: number;
  isPaused: boolean;
  isCut: boolean;
  call: Call | null;
}

/** Replicas with clocks that run at different rates, and the store: what CLAIM does, as a model. */
class Cluster {
  readonly #rates: readonly number[];
  readonly #replicas: Replica[];
  /** Calls of which the reply is lost, and which may still arrive. */
  #late: Call[] = [];
  #nextId = 10;
  #nowMs = 1_000;
  #stored: { id: number; token: number; untilMs: number } | null = null;
  #newestToken = 0;
  /** Draws that the newest leader's predecessor would have made. */
  staleDraws = 0;

  constructor(rates: readonly number[]) {
    this.#rates = rates;
    this.#replicas = rates.map((_, index) => ({
      lease: NEW_LEASE,
      clockMs: 0,
      id: index + 1,
      isPaused: false,
      isCut: false,
      call: null,
    }));
  }

  leaders(): readonly number[] {
    const leaders = this.#replicas.filter(({ lease, clockMs }) => roleOf(lease, clockMs) === "leader");
    for (const { lease, clockMs } of leaders) {
      this.staleDraws += (tokenOf(lease, clockMs) ?? 0) < this.#newestToken ? 1 : 0;
    }
    return leaders.map(({ id }) => id);
  }

  heal(): void {
    for (const [who] of this.#replicas.entries()) {
      this.step({ kind: "resume", who });
      this.step({ kind: "join", who });
    }
  }

  step(step: Step): void {
    if (step.kind === "wipe") {
      this.#stored = null;
    } else if (step.kind === "pass") {
      // In short steps, so that calls are made when they are due.
      for (let leftMs = step.ms; leftMs > 0; leftMs -= 250) {
        this.#pass(Math.min(leftMs, 250));
      }
    } else {
      this.#happen(step.kind, step.who);
    }
  }

  #pass(ms: number): void {
    this.#nowMs += ms;
    for (const [index, replica] of this.#replicas.entries()) {
      replica.clockMs += ms * (this.#rates[index] ?? 1);
      if (!replica.isPaused) {
        this.#run(replica);
      }
    }
  }

  #run(replica: Replica): void {
    const { call, clockMs } = replica;
    if (call !== null && (replica.isCut || clockMs - call.calledMs >= 1_000)) {
      this.#late.push(call);
      this.#tell(replica, { kind: "failed", calledMs: call.calledMs });
    } else if (call !== null) {
      this.#answer(replica, call);
    }
    if (isCallDue(replica.lease, clockMs)) {
      replica.call = {
        id: replica.id,
        held: tokenOf(replica.lease, clockMs),
        highest: replica.lease.highestToken,
        priority: priorityOf(replica.lease, clockMs),
        calledMs: clockMs,
      };
      replica.lease = foldLease(replica.lease, { kind: "called" }, clockMs);
    }
  }

  #happen(kind: Exclude<Step["kind"], "pass" | "wipe">, who: number): void {
    const replica = this.#replicas[who];
    if (replica === undefined) {
      return;
    }
    switch (kind) {
      case "pause":
      case "resume":
        replica.isPaused = kind === "pause";
        break;
      case "cut":
      case "join":
        replica.isCut = kind === "cut";
        break;
      case "crash":
        this.#nextId += 1;
        Object.assign(replica, { lease: NEW_LEASE, id: this.#nextId, call: null });
        break;
      case "deliver":
        this.#deliver();
        break;
      case "lose":
        this.#lose(replica);
    }
  }

  /** A call that was given up is run by the store all the same. A holder's arrives within the time it has left. */
  #deliver(): void {
    const late = this.#late.shift();
    if (late !== undefined && late.held === null) {
      this.#claim(late);
    }
  }

  /** The store runs it, and the reply is lost. */
  #lose(replica: Replica): void {
    if (replica.call !== null && !replica.isPaused) {
      this.#claim(replica.call);
      this.#tell(replica, { kind: "failed", calledMs: replica.call.calledMs });
    }
  }

  #answer(replica: Replica, call: Call): void {
    const { granted, token } = this.#claim(call);
    const isTaken = this.#stored !== null && this.#stored.id !== 0 && this.#stored.untilMs > this.#nowMs;
    const refusal = { kind: isTaken ? "refused" : "vacant", token } as const;
    this.#tell(replica, granted ? { kind: "granted", calledMs: call.calledMs, token } : refusal);
  }

  #tell(replica: Replica, event: LeaseEvent): void {
    replica.call = null;
    replica.lease = foldLease(replica.lease, event, replica.clockMs);
  }

  #claim({ id, held, highest, priority }: Call): { readonly granted: boolean; readonly token: number } {
    const stored = this.#stored;
    const grant = (token: number) => {
      this.#stored = { id, token, untilMs: this.#nowMs + LEASE_MS };
      this.#newestToken = Math.max(this.#newestToken, token);
      return { granted: true, token };
    };
    if (stored?.id === id) {
      return grant(stored.token);
    }
    if ((stored === null || stored.id === 0) && held !== null) {
      return grant(held);
    }
    if (stored === null) {
      this.#stored = { id: 0, token: 0, untilMs: this.#nowMs + LEASE_MS };
      return { granted: false, token: 0 };
    }
    const graceMs = stored.id === 0 && priority !== "first" ? 3_000 : 0;
    if (priority === "last" || stored.untilMs + graceMs > this.#nowMs) {
      return { granted: false, token: stored.token };
    }
    return grant(Math.max(this.#nowMs, stored.token + 1, highest + 1));
  }
}

function failedAt(nowMs: number): readonly [LeaseEvent, number] {
  return [{ kind: "failed", calledMs: nowMs - 1 }, nowMs];
}

function fold(events: readonly (readonly [LeaseEvent, number])[], from = NEW_LEASE): Lease {
  return events.reduce((lease, [event, nowMs]) => foldLease(lease, event, nowMs), from);
}
