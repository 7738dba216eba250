import { describe, expect, it } from "vitest";
import { NO_PARITY, observeReadings, type ParityState } from "../../../src/core/parity/parity-state.ts";
import type { WatchedProbe } from "../../../src/core/parity/watched-probe.ts";
import { BASE, T0, targetOn } from "../chain/chain-fixture.ts";
import { MINUTE, ParityPlay, parityValue, type Said, takenReading } from "./parity-play.ts";

const A = targetOn(BASE, "airdrops/a");

/** Readings of one target of a play, each with the deployment that answered, a minute after another. */
function deployed(...said: readonly (readonly [deployment: string | null, ...Said])[]): ParityState {
  const play = new ParityPlay();
  for (const [deployment, block, value] of said) {
    play.nowMs += MINUTE;
    const taken = takenReading(A, { block, value: parityValue(value), atMs: play.nowMs });
    play.take([{ ...taken, deployment }]);
  }
  return play.state;
}

/** `from-to` of each run of values that is known of a target. */
function runsOf(state: ParityState, target: string): readonly string[] {
  return state.sources
    .filter((known) => known.target === target)
    .flatMap(({ runs }) => runs.map(({ from, to }) => `${from}-${to}`));
}

describe("observeReadings() after another deployment answered", () => {
  it.each<{
    case: string;
    deployments: readonly [string | null, string | null];
    runs: readonly string[];
    deployment: string | null;
  }>([
    {
      case: "keeps values of the same one",
      deployments: ["Qm1", "Qm1"],
      runs: ["100-200"],
      deployment: "Qm1",
    },
    {
      case: "forgets values of another one",
      deployments: ["Qm1", "Qm2"],
      runs: ["200-200"],
      deployment: "Qm2",
    },
    {
      case: "keeps values where it is not said now",
      deployments: ["Qm1", null],
      runs: ["100-200"],
      deployment: "Qm1",
    },
    {
      case: "keeps values where it was not said before",
      deployments: [null, "Qm1"],
      runs: ["100-200"],
      deployment: "Qm1",
    },
    {
      case: "keeps values where it is never said",
      deployments: [null, null],
      runs: ["100-200"],
      deployment: null,
    },
  ])("$case", ({ deployments, runs, deployment }) => {
    const state = deployed([deployments[0], 100, 5], [deployments[1], 200, 5]);

    expect(runsOf(state, A.key)).toEqual(runs);
    expect(state.sources).toMatchObject([{ deployment, readings: 2 }]);
  });
});

describe("observeReadings() of targets with intervals of their own", () => {
  const hourly = targetOn(BASE, "airdrops/b", 60 * MINUTE);
  const probe: WatchedProbe = {
    name: "rows",
    everyMs: MINUTE,
    targets: [A, hourly].map((target) => ({ target, select: "rows { n }", query: "q" })),
    pairs: [{ target: hourly, against: A }],
  };

  it("takes equal readings for the heights between within three intervals of their own target", () => {
    const state = [0, 60].reduce(
      (folded, minute) =>
        observeReadings(
          folded,
          { probes: [probe], staleMs: 5 * MINUTE },
          [A, hourly].map((target) =>
            takenReading(target, {
              block: 100 + minute,
              value: parityValue(5),
              atMs: T0 + minute * MINUTE,
            }),
          ),
        ),
      NO_PARITY,
    );

    expect(runsOf(state, A.key)).toEqual(["100-100", "160-160"]);
    expect(runsOf(state, hourly.key)).toEqual(["100-160"]);
  });
});

describe("observeReadings() once one source can no longer be relied on", () => {
  it.each(["a", "b"])("starts the pair anew where heights of %s are doubted", (variant) => {
    const play = new ParityPlay().read({ a: [100, 5], b: [100, 5] });
    const target = targetOn(BASE, `airdrops/${variant}`);
    const taken = takenReading(target, { block: 101, value: parityValue(5), atMs: play.nowMs + MINUTE });

    play.take([{ ...taken, trust: "doubted" }]);

    expect(play.pair()).toMatchObject({ result: "unknown", sinceMs: null, comparison: null, last: null });
  });
});

describe("observeReadings() after a silence", () => {
  const HOUR = 60 * MINUTE;

  it("compares heights far below the last ones where both stand there: the chain has started again", () => {
    const play = new ParityPlay().read({ a: [9_000, 5], b: [9_000, 5] });

    play.read({ a: [100, 7], b: [100, 7] }, HOUR);

    expect(play.pair()).toMatchObject({
      result: "equal",
      sinceMs: play.nowMs,
      comparison: { block: 100 },
      last: { block: 100 },
    });
  });

  it("settles nothing at a height below the last where one of the two still stands above it", () => {
    const play = new ParityPlay().read({ a: [8_900, 5] }).read({ a: [9_000, 5], b: [9_000, 5] });

    play.read({ a: [9_001, 5], b: [8_990, 5] }, HOUR);

    expect(play.pair()).toMatchObject({ result: "unknown", last: { block: 9_000 } });
  });

  it("takes no lower heights for a new chain without a silence", () => {
    const play = new ParityPlay().read({ a: [9_000, 5], b: [9_000, 5] });

    play.read({ a: [100, 7], b: [100, 7] });

    expect(play.pair()).toMatchObject({ result: "equal", comparison: { block: 9_000 } });
  });

  it("drops a result that three intervals have not renewed, and not one that is as old as that", () => {
    const resultAfter = (silenceMs: number) => {
      const play = new ParityPlay().read({ a: [100, 5], b: [100, 5] });
      return play.read({ a: [110, 6] }, silenceMs).pair().result;
    };

    expect(resultAfter(5 * MINUTE)).toBe("equal");
    expect(resultAfter(5 * MINUTE + 1)).toBe("unknown");
  });
});
