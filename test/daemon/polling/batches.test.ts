import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Observed } from "../../../src/core/chain/observed.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import type { ParityReading } from "../../../src/core/model/parity.ts";
import { ObservationBatches } from "../../../src/daemon/polling/batches.ts";
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

describe("ObservationBatches", () => {
  it("hands on together what ends in one turn of the event loop, observations before readings", async () => {
    const { batches, handedOn } = start();

    const polls = [batches.add(pollOf(A)), Promise.resolve().then(() => batches.add(pollOf(B, [READING])))];
    await setImmediate();
    const later = batches.add(pollOf(C));
    await Promise.all([...polls, later]);

    expect(handedOn).toEqual([["a", "b"], [READING], ["c"], []]);
  });

  it("tells each poll what its own observations showed", async () => {
    const { batches } = start({ changing: ["b"], implausible: ["c"] });

    const verdicts = await Promise.all([A, B, C].map((observation) => batches.add(pollOf(observation))));

    expect(verdicts).toEqual([
      { stability: "stable", isImplausible: false },
      { stability: "changing", isImplausible: false },
      { stability: "stable", isImplausible: true },
    ]);
  });

  it("hands on at once what is pending when it is told to, and once only", async () => {
    const { batches, handedOn } = start();
    const polled = batches.add(pollOf(A));

    batches.flush();
    batches.flush();

    expect(handedOn).toEqual([["a"], []]);
    await polled;
    await setImmediate();
    expect(handedOn).toHaveLength(2);
  });

  it("fails every poll of the batch with what the observer throws, and goes on", async () => {
    let isBroken = true;
    const bug = new TypeError("bug");
    const batches = new ObservationBatches({
      observe: () => {
        if (isBroken) {
          throw bug;
        }
        return { changing: [], implausible: [] };
      },
      observeParity: () => undefined,
    });

    const failed = await Promise.allSettled([batches.add(pollOf(A)), batches.add(pollOf(B))]);
    isBroken = false;

    expect(failed).toEqual([
      { status: "rejected", reason: bug },
      { status: "rejected", reason: bug },
    ]);
    await expect(batches.add(pollOf(C))).resolves.toEqual({ stability: "stable", isImplausible: false });
  });
});

function pollOf(observation: Observation | undefined, readings: readonly ParityReading[] = []) {
  return { observations: observation === undefined ? [] : [observation], readings };
}

/** Notes what is handed on: the sources of observations, and readings. */
function start(observed: Observed = { changing: [], implausible: [] }) {
  const handedOn: unknown[] = [];
  const batches = new ObservationBatches({
    observe: (observations) => {
      handedOn.push(observations.map(({ source }) => source));
      return observed;
    },
    observeParity: (readings) => {
      handedOn.push(readings);
    },
  });
  return { batches, handedOn };
}
