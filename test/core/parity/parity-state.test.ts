import { describe, expect, it } from "vitest";
import { retainParity, shiftParity } from "../../../src/core/parity/parity-state.ts";
import { MINUTE, ParityPlay, type Said, takenReading } from "./parity-play.ts";

/** So many ticks in which both are read at one height, 30 blocks further each time. */
function inStep(
  play: ParityPlay,
  ticks: number,
  valuesAt: (tick: number) => readonly [a: Said[1], b: Said[1]],
) {
  for (let tick = 0; tick < ticks; tick += 1) {
    const block = 1_000 + (play.nowMs % 1e9) / 2_000;
    const [a, b] = valuesAt(tick);
    play.read({ a: [block, a], b: [block, b] });
  }
  return play;
}

describe("observeReadings()", () => {
  it("says equal after one comparison, and different after three and two minutes", () => {
    const play = inStep(new ParityPlay(), 1, () => [5, 5]);
    expect(play.pair()).toMatchObject({ result: "equal", sinceMs: play.nowMs });

    const results = [1, 2, 3].map(() => inStep(play, 1, () => [6, 5]).pair().result);

    expect(results).toEqual(["equal", "equal", "different"]);
    expect(play.pair()).toMatchObject({
      sinceMs: play.nowMs - 2 * MINUTE,
      comparison: { own: { text: "5" }, against: { text: "6" } },
    });
  });

  it("waits two minutes, however many comparisons there are", () => {
    const play = new ParityPlay(["a", "b"], 15_000);

    const results = Array.from({ length: 9 }, () => inStep(play, 1, () => [6, 5]).pair().result);

    expect(results.lastIndexOf("unknown")).toBe(7);
    expect(results.at(-1)).toBe("different");
  });

  it("says equal again at the first comparison that is", () => {
    const play = inStep(new ParityPlay(), 4, () => [6, 5]);

    expect(inStep(play, 1, () => [7, 7]).pair()).toMatchObject({ result: "equal", streak: null });
  });

  it("starts to count anew after an equal comparison", () => {
    const play = inStep(new ParityPlay(), 6, (tick) => [tick === 2 || tick === 5 ? 5 : 6, 5]);

    expect(play.pair().result).toBe("equal");
  });

  it("takes equal values of one source to stand for the heights between", () => {
    const play = new ParityPlay();

    play
      .read({ a: [100, 7] })
      .read({ a: [200, 7] })
      .read({ b: [150, 7] });

    expect(play.pair()).toMatchObject({ result: "equal", last: { block: 150 } });
  });

  it("says nothing where no height is known of both", () => {
    const play = new ParityPlay();

    play
      .read({ a: [100, 7] })
      .read({ a: [200, 8] })
      .read({ b: [150, 7] });

    expect(play.pair()).toMatchObject({ result: "unknown", last: null });
  });

  it("does not count a comparison for which one of the two said nothing new", () => {
    const play = inStep(new ParityPlay(), 12, () => [5, 5]);

    play.read({ a: [9_000_000, 6] });
    for (let tick = 0; tick < 6; tick += 1) {
      play.read({ b: [8_000_000 + 100 * tick, 5] });
    }

    expect(play.pair().result).toBe("equal");
  });

  it("says different of a variant that is an hour behind", () => {
    const play = new ParityPlay(["a", "b"], 10 * MINUTE);
    const behind = 1_800;

    for (let tick = 0; tick < 20; tick += 1) {
      const block = 10_000 + 300 * tick;
      const rows = Math.floor(block / 2_000);
      play.read({ a: [block, rows], b: [block - behind, Math.floor((block - behind) / 2_000) - 1] });
    }

    expect(play.pair()).toMatchObject({
      result: "different",
      comparison: { block: 10_000 + 19 * 300 - behind },
    });
  });

  it("does not take what a reorg replaced for a difference, where the other comes to it later", () => {
    const play = new ParityPlay(["a", "b"], 15_000);

    for (let block = 800; block <= 1_000; block += 10) {
      play.read({ a: [block, block < 940 ? "old" : "of the lost fork"], b: [block - 64, "old"] });
    }
    for (let block = 937; block < 1_000; block += 1) {
      play.read({ a: [block + 64, "old"], b: [block, "old"] });
      expect(play.pair().result).not.toBe("different");
    }
  });

  it("takes no part of what a source said above the height it stands at now", () => {
    const play = inStep(new ParityPlay(), 2, () => [5, 5]);

    play
      .read({ a: [9_000_000, 6] })
      .read({ a: [8_000_000, 5] })
      .read({ b: [9_000_000, 5] });

    expect(play.pair().result).toBe("equal");
    expect(play.state.sources.find(({ target }) => target.includes("/a/"))?.runs.at(-1)?.to).toBe(8_000_000);
  });

  it.each([
    { case: "comes and goes", values: [true, false] },
    { case: "is null at times", values: [null, "x", "y"] },
  ])("says nothing of heights between readings where the value $case", ({ values }) => {
    const play = new ParityPlay(["a", "b"], 15_000);

    for (let tick = 0; tick < 200; tick += 1) {
      const block = 1_000 + 10 * tick;
      // Both follow one function of the height, and neither sees it all.
      const at = (height: number) => values[(height * 7_919 + (height >> 3)) % values.length] ?? null;
      play.read({ a: [block, at(block)] }, 7_000).read({ b: [block + 4, at(block + 4)] }, 8_000);
      expect(play.pair().result).not.toBe("different");
    }
  });

  it("compares what comes and goes at the heights at which both were read", () => {
    const play = inStep(new ParityPlay(), 20, (tick) => [tick % 2 === 0, tick % 2 === 0]);
    expect(play.pair().result).toBe("equal");

    expect(inStep(play, 3, (tick) => [tick % 2 === 0, tick % 2 !== 0]).pair().result).toBe("different");
  });

  it("says no difference of a source that gives two values for one height", () => {
    const play = inStep(new ParityPlay(), 2, () => [5, 5]);

    play.read({ a: [8_000_000, 5] }).read({ a: [8_000_000, 6] });
    for (let tick = 1; tick < 6; tick += 1) {
      play.read({ a: [8_000_000 + tick, 100 + tick], b: [8_000_000 + tick, 99 + tick] });
    }

    expect(play.pair().result).not.toBe("different");
  });

  it("forgets a source whose heights are doubted, and ignores a single reading that is not to be used", () => {
    const play = inStep(new ParityPlay(), 4, () => [6, 5]);
    const target = play.probe.targets[0]?.target;
    const reading =
      target &&
      takenReading(target, { block: 9_000_000, value: { text: "9", isNumber: true }, atMs: play.nowMs + 1 });
    if (reading === undefined) {
      throw new Error("the probe has no target");
    }

    expect(play.take([{ ...reading, trust: "ignored" }]).pair().result).toBe("different");
    expect(play.take([{ ...reading, trust: "doubted" }]).pair().result).toBe("unknown");
  });

  it("keeps what is known where a reading fails, and says why", () => {
    const play = inStep(new ParityPlay(), 1, () => [5, 5]);
    const target = play.probe.targets[0]?.target.key ?? "";
    const times = { sentAtMs: play.nowMs, receivedAtMs: play.nowMs + 1 };

    play.take([
      {
        reading: { kind: "failed", probe: "rows", target, detail: "no field n", ...times },
        trust: "trusted",
        deployment: null,
      },
    ]);

    expect(play.pair().result).toBe("equal");
    expect(play.state.sources.find((known) => known.target === target)).toMatchObject({
      failure: "no field n",
      readings: 1,
    });
  });

  it("starts anew once the last comparison is stale", () => {
    const play = inStep(new ParityPlay(), 4, () => [6, 5]);

    play.nowMs += 60 * MINUTE;

    expect(inStep(play, 1, () => [6, 5]).pair()).toMatchObject({ result: "unknown", streak: { count: 1 } });
  });

  it("names the three pairs of three variants", () => {
    const play = new ParityPlay(["a", "b", "c"]);

    for (let block = 100; block < 106; block += 1) {
      play.read({ a: [block, 5], b: [block, 5], c: [block, 4] });
    }

    expect(
      [play.pair("b", "a"), play.pair("c", "a"), play.pair("c", "b")].map(({ result }) => result),
    ).toEqual(["equal", "different", "different"]);
  });
});

describe("retainParity()", () => {
  const play = inStep(new ParityPlay(), 4, () => [6, 5]);

  it("keeps what is still compared in the same way", () => {
    expect(retainParity(play.state, [play.probe], () => true)).toEqual(play.state);
  });

  it.each([
    { case: "the probe is gone", probes: [] },
    {
      case: "a variant is asked something else",
      probes: [
        {
          ...play.probe,
          targets: play.probe.targets.map((one, at) => (at === 0 ? { ...one, query: "other" } : one)),
        },
      ],
    },
  ])("forgets a pair where $case", ({ probes }) => {
    expect(retainParity(play.state, probes, () => true).pairs).toEqual([]);
  });
});

describe("shiftParity()", () => {
  it("leaves every result as it was after the clock was set", () => {
    const play = inStep(new ParityPlay(), 3, () => [6, 5]);

    play.state = shiftParity(play.state, 86_400_000);
    play.nowMs += 86_400_000;

    expect(inStep(play, 1, () => [6, 5]).pair().result).toBe("different");
    expect(play.pair().sinceMs).toBe(play.nowMs - 3 * MINUTE);
  });
});
