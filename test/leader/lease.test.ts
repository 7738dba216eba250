import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLeaseClock } from "../../src/leader/leadership.ts";
import {
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
import { CLAIM } from "../../src/leader/lease-scripts.ts";
import { claim } from "../support/store-model.ts";
import { expectTold } from "../support/tell.ts";

it("a replica has the roles of test/fixtures/leases.txt", async () => {
  await expectTold("test/fixtures/leases.txt", () => {
    let lease = NEW_LEASE;
    return {
      do(line) {
        const [, at, kind, token, called] =
          /^at (\d+)(?: (\w+))?(?: (\d+))?(?: called (\d+))?$/.exec(line) ?? [];
        const nowMs = Number(at);
        const told = { kind, token: Number(token), calledMs: Number(called ?? nowMs - 1) };
        // One of the kinds, as the story has it.
        lease = kind === undefined ? lease : foldLease(lease, told as LeaseEvent, nowMs);
        const [held, due] = [tokenOf(lease, nowMs), isCallDue(lease, nowMs) ? "is due" : "is not due"];
        const role = `${roleOf(lease, nowMs)}${held === null ? "" : ` with token ${held}`}`;
        return [`${role}, priority ${priorityOf(lease, nowMs)}, a call ${due}`];
      },
    };
  });
});

describe("createLeaseClock()", () => {
  it("advances with the faster of two clocks, and never goes back", () => {
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
  it("is never held by two replicas at once, and never free for long, whatever is paused, cut off, late or lost", () => {
    fc.assert(
      fc.property(
        fc.array(stepArbitrary(), { minLength: 20, maxLength: 300, size: "max" }),
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
  /** The arguments of `CLAIM`. */
  readonly args: readonly string[];
  readonly isHolders: boolean;
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

/** Replicas with clocks that run at different rates, and the store. */
class Cluster {
  readonly #rates: readonly number[];
  readonly #replicas: Replica[];
  /** Calls without a reply, which may still arrive at the store. */
  readonly #late: Call[] = [];
  readonly #stored = new Map<string, string>();
  #nextId = 10;
  #nowMs = 1_000;
  #newestToken = 0;
  /** Draws of a former leader after another replica had become leader. */
  staleDraws = 0;

  constructor(rates: readonly number[]) {
    const fresh = { lease: NEW_LEASE, clockMs: 0, isPaused: false, isCut: false, call: null };
    this.#rates = rates;
    this.#replicas = rates.map((_, index) => ({ ...fresh, id: index + 1 }));
  }

  leaders(): readonly number[] {
    const leaders = this.#replicas.filter(({ lease, clockMs }) => roleOf(lease, clockMs) === "leader");
    for (const { lease, clockMs } of leaders) {
      this.staleDraws += (tokenOf(lease, clockMs) ?? 0) < this.#newestToken ? 1 : 0;
    }
    return leaders.map(({ id }) => id);
  }

  heal(): void {
    for (const replica of this.#replicas) {
      Object.assign(replica, { isPaused: false, isCut: false });
    }
  }

  step(step: Step): void {
    if (step.kind === "pass") {
      // In short steps, so that calls are made when they are due.
      for (let leftMs = step.ms; leftMs > 0; leftMs -= 250) {
        this.#pass(Math.min(leftMs, 250));
      }
    } else if (step.kind === "wipe") {
      this.#stored.clear();
    } else if (step.kind === "deliver") {
      this.#deliver();
    } else {
      this.#happen(step.kind, this.#replicas[step.who]);
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
    const { call, clockMs, id } = replica;
    if (call !== null && (replica.isCut || clockMs - call.calledMs >= 1_000)) {
      this.#late.push(call);
      this.#tell(replica, { kind: "failed", calledMs: call.calledMs });
    } else if (call !== null) {
      const { isGranted, token, leader } = this.#claim(call);
      const refusal = { kind: leader === null ? "vacant" : "refused", token } as const;
      this.#tell(replica, isGranted ? { kind: "granted", calledMs: call.calledMs, token } : refusal);
    }
    const { lease } = replica;
    if (isCallDue(lease, clockMs)) {
      const held = tokenOf(lease, clockMs);
      const asked = [
        id,
        `replica ${id}`,
        held ?? 0,
        lease.highestToken,
        LEASE_MS,
        priorityOf(lease, clockMs),
      ];
      replica.call = {
        args: [...asked, Number.POSITIVE_INFINITY].map(String),
        isHolders: held !== null,
        calledMs: clockMs,
      };
      replica.lease = foldLease(lease, { kind: "called" }, clockMs);
    }
  }

  #happen(kind: Exclude<Step["kind"], "pass" | "wipe" | "deliver">, replica: Replica | undefined): void {
    if (replica === undefined) {
      return;
    }
    if (kind === "pause" || kind === "resume") {
      replica.isPaused = kind === "pause";
    } else if (kind === "cut" || kind === "join") {
      replica.isCut = kind === "cut";
    } else if (kind === "crash") {
      this.#nextId += 1;
      Object.assign(replica, { lease: NEW_LEASE, id: this.#nextId, call: null });
    } else if (replica.call !== null && !replica.isPaused) {
      // The store runs it, and the reply is lost.
      this.#claim(replica.call);
      this.#tell(replica, { kind: "failed", calledMs: replica.call.calledMs });
    }
  }

  /** The store also runs a call that the replica has given up, unless the replica held the lease at the time. */
  #deliver(): void {
    const late = this.#late.shift();
    if (late?.isHolders === false) {
      this.#claim(late);
    }
  }

  #tell(replica: Replica, event: LeaseEvent): void {
    replica.call = null;
    replica.lease = foldLease(replica.lease, event, replica.clockMs);
  }

  #claim({ args }: Call): ReturnType<typeof CLAIM.reply.parse> {
    const reply = CLAIM.reply.parse(claim(this.#stored, args, { nowMs: this.#nowMs }));
    this.#newestToken = Math.max(this.#newestToken, reply.isGranted ? reply.token : 0);
    return reply;
  }
}
