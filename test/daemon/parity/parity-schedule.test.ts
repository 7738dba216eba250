import { beforeEach, describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import type { CarriedProbe, ParityReading } from "../../../src/core/model/parity.ts";
import { ParitySchedule } from "../../../src/daemon/parity/parity-schedule.ts";
import type { Carriage } from "../../../src/daemon/parity/poll-carrying.ts";
import { NEW_SEARCH } from "../../../src/dialects/fallback-query.ts";
import { endpointOf, targetOf } from "../../support/endpoints.ts";

const MINUTE_MS = 60_000;
const EVERY_MS = 10 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

let schedule: ParitySchedule;

beforeEach(() => {
  schedule = new ParitySchedule(() => 0);
});

/** An endpoint with probes of these names, each with so many chains. */
function carrier(probes: Readonly<Record<string, number>>, pollIntervalMs = 15_000): Endpoint {
  const most = Math.max(...Object.values(probes));
  const targets = Array.from({ length: most }, (_, index) =>
    targetOf({ key: `t${index}`, chainId: index + 1 }),
  );
  const parity = Object.entries(probes).map(
    ([probe, chains]): CarriedProbe => ({
      probe,
      everyMs: EVERY_MS,
      selections: targets
        .slice(0, chains)
        .map(({ key }) => ({ target: key, select: `${probe} { id }`, value: [probe, "id"] })),
    }),
  );
  return endpointOf({ targets, parity, pollIntervalMs });
}

function namesOf(probes: readonly CarriedProbe[]): readonly string[] {
  return probes.map(({ probe }) => probe);
}

/** Polls once; returns what was carried and which readings are handed on. */
function pollAt(
  endpoint: Endpoint,
  nowMs: number,
  carriageOf: Carriage | ((carried: readonly string[]) => Carriage),
): { readonly carried: readonly string[]; readonly readings: number } {
  const probes = schedule.due(endpoint, nowMs);
  const carried = namesOf(probes);
  const carriage = typeof carriageOf === "string" ? carriageOf : carriageOf(carried);
  const readings = probes.flatMap(({ probe, selections }) =>
    selections.map(
      ({ target }): ParityReading => ({
        kind: "failed",
        detail: "",
        probe,
        target,
        sentAtMs: nowMs,
        receivedAtMs: nowMs,
      }),
    ),
  );
  const result = { carriage, readings, observations: [], search: NEW_SEARCH };
  return { carried, readings: schedule.settle(endpoint, probes, { result, nowMs }).length };
}

describe("ParitySchedule", () => {
  it("carries a probe with the first poll, and with the first that falls due after its time", () => {
    const endpoint = carrier({ rows: 2 });

    const carried = Array.from({ length: 82 }, (_, index) =>
      pollAt(endpoint, index * 15_000, "answered"),
    ).flatMap(({ carried: names }, index) => (names.length > 0 ? [index * 15_000] : []));

    expect(carried).toEqual([0, EVERY_MS, 2 * EVERY_MS]);
  });

  it("takes a poll for punctual that comes a moment early", () => {
    const endpoint = carrier({ rows: 1 }, EVERY_MS);

    expect(pollAt(endpoint, 20, "answered").carried).toEqual(["rows"]);
    expect(pollAt(endpoint, EVERY_MS, "answered").carried).toEqual(["rows"]);
  });

  it("has a probe due again at once when it was not sent", () => {
    const endpoint = carrier({ rows: 1 });

    pollAt(endpoint, 0, "none");

    expect(namesOf(schedule.due(endpoint, 1))).toEqual(["rows"]);
  });

  it("waits twice as long after each refusal, up to a day, and as before once it is answered", () => {
    const endpoint = carrier({ rows: 1 });
    const waits: number[] = [];
    let lastMs = 0;
    pollAt(endpoint, 0, "refused");
    for (let nowMs = MINUTE_MS; waits.length < 10; nowMs += MINUTE_MS) {
      if (pollAt(endpoint, nowMs, "refused").carried.length > 0) {
        waits.push((nowMs - lastMs) / MINUTE_MS);
        lastMs = nowMs;
      }
    }

    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440]);
    const answeredMs = lastMs + DAY_MS;
    expect(pollAt(endpoint, answeredMs, "answered").carried).toEqual(["rows"]);
    expect(schedule.due(endpoint, answeredMs + EVERY_MS)).toHaveLength(1);
  });

  it("finds out which of several probes is refused, and lets the others go on", () => {
    const endpoint = carrier({ good: 1, bad: 1, fine: 1 });
    const refuseBad = (carried: readonly string[]): Carriage =>
      carried.includes("bad") ? "refused" : "answered";

    const polls = Array.from({ length: 5 }, (_, index) => pollAt(endpoint, index * 15_000, refuseBad));
    const later = pollAt(endpoint, 2 * EVERY_MS, refuseBad);

    expect(polls).toEqual([
      // Nobody knows whose fault it is, so nothing is counted.
      { carried: ["good", "bad", "fine"], readings: 0 },
      { carried: ["good"], readings: 1 },
      { carried: ["bad"], readings: 1 },
      { carried: ["fine"], readings: 1 },
      { carried: [], readings: 0 },
    ]);
    expect(later.carried).toEqual(["bad"]);
    expect(pollAt(endpoint, 2 * EVERY_MS + 15_000, refuseBad).carried).toEqual(["good", "fine"]);
  });

  it("asks for a few chains at a time, and for the rest with the next polls", () => {
    const endpoint = carrier({ rows: 40 });

    const asked = [0, 1, 2, 3].map((turn) => pollAt(endpoint, turn * 15_000, "answered").readings);

    expect(asked).toEqual([15, 15, 10, 0]);
  });

  it("does not make a request longer than servers accept", () => {
    const endpoint = carrier({ rows: 5 });
    const long = endpoint.parity?.map((probe) => ({
      ...probe,
      selections: probe.selections.map((selection) => ({ ...selection, select: "x".repeat(3_000) })),
    }));
    const [carried] = schedule.due({ ...endpoint, parity: long ?? [] }, 0);

    expect(carried?.selections).toHaveLength(2);
  });

  it("starts anew for a selection that a reload has changed, and goes on with the others", () => {
    const before = carrier({ rows: 1, claims: 1 });
    pollAt(before, 0, "answered");
    const after = {
      ...before,
      parity: (before.parity ?? []).map((probe) =>
        probe.probe === "claims"
          ? {
              ...probe,
              selections: probe.selections.map((selection) => ({ ...selection, select: "claims { key }" })),
            }
          : { ...probe },
      ),
    };

    expect(namesOf(schedule.due(after, 1_000))).toEqual(["claims"]);
  });
});
