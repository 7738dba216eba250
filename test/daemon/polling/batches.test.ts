import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Observed } from "../../../src/core/chain/observed.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import type { ParityReading } from "../../../src/core/model/parity.ts";
import { ObservationBatches, type PollVerdict } from "../../../src/daemon/polling/batches.ts";
import { headAt, T0 } from "../../core/chain/chain-fixture.ts";

const [A, B, C] = ["a", "b", "c"].map((source) => headAt(source, T0, { block: 1_000 }));
const READING: ParityReading = {
  kind: "failed",
  probe: "streams",
  target: "b",
  detail: "refused",
  sentAtMs: T0,
  receivedAtMs: T0,
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("ObservationBatches", () => {
  it("hands on together what comes within 50 ms, observations before readings", () => {
    const { add, handedOn } = start();

    add(A);
    vi.advanceTimersByTime(49);
    add(B, [READING]);
    expect(handedOn).toEqual([]);
    vi.advanceTimersByTime(1);
    add(C);
    vi.advanceTimersByTime(50);

    expect(handedOn).toEqual([["a", "b"], [READING], ["c"], []]);
  });

  it("tells each poll what its own observations showed", () => {
    const { add, batches, verdicts } = start({ changing: ["b"], implausible: ["c"] });
    for (const observation of [A, B, C]) {
      add(observation);
    }

    batches.flush();

    expect(verdicts).toEqual([
      { stability: "stable", isImplausible: false },
      { stability: "changing", isImplausible: false },
      { stability: "stable", isImplausible: true },
    ]);
  });

  it("hands on at once what is pending when it is told to, and once only", () => {
    const { add, batches, handedOn } = start();
    add(A);

    batches.flush();
    batches.flush();
    vi.advanceTimersByTime(1_000);

    expect(handedOn).toEqual([["a"], []]);
  });

  it("hands on 64 polls without waiting for more", () => {
    const { add, handedOn, verdicts } = start();

    for (let poll = 0; poll < 65; poll += 1) {
      add(A);
    }
    expect(verdicts).toHaveLength(64);
    vi.advanceTimersByTime(50);

    expect(handedOn.map((list) => list.length)).toEqual([64, 0, 1, 0]);
  });

  it("has what the observer throws reported, and goes on", () => {
    const bug = new TypeError("bug");
    const bugs: unknown[] = [];
    let isBroken = true;
    const observe = (): Observed => {
      if (isBroken) {
        throw bug;
      }
      return { changing: [], implausible: [] };
    };
    const batches = new ObservationBatches({ observe, observeParity: () => undefined }, (error) => {
      bugs.push(error);
    });
    const verdicts: PollVerdict[] = [];

    batches.add(pollOf(A), (verdict) => verdicts.push(verdict));
    batches.flush();
    isBroken = false;
    batches.add(pollOf(B), (verdict) => verdicts.push(verdict));
    batches.flush();

    expect(bugs).toEqual([bug]);
    expect(verdicts).toHaveLength(1);
  });
});

function pollOf(observation: Observation | undefined, readings: readonly ParityReading[] = []) {
  return { observations: observation === undefined ? [] : [observation], readings };
}

/** Notes what is handed on, the sources of observations and then the readings, and each poll's verdict. */
function start(observed: Observed = { changing: [], implausible: [] }) {
  const handedOn: (readonly unknown[])[] = [];
  const verdicts: PollVerdict[] = [];
  const batches = new ObservationBatches(
    {
      observe: (observations) => {
        handedOn.push(observations.map(({ source }) => source));
        return observed;
      },
      observeParity: (readings) => {
        handedOn.push(readings);
      },
    },
    (error) => {
      throw error;
    },
  );
  const add = (observation: Observation | undefined, readings: readonly ParityReading[] = []): void =>
    batches.add(pollOf(observation, readings), (verdict) => verdicts.push(verdict));
  return { add, batches, handedOn, verdicts };
}
