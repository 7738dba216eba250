import { describe, expect, it } from "vitest";
import { startChain } from "../../../src/core/chain/watch-chain.ts";
import type { ParityReport, Status } from "../../../src/core/model/report.ts";
import { reportTargets } from "../../../src/core/report/report-chain.ts";
import { oddTargets, reportParity } from "../../../src/core/report/report-parity.ts";
import { viewOf } from "../../../src/core/status/view.ts";
import { BASE, watch } from "../chain/chain-fixture.ts";
import { MINUTE, ParityPlay, type Said } from "../parity/parity-play.ts";

const WATCHED = watch(BASE, "airdrops/a", "airdrops/b", "airdrops/c");

/** So many ticks a minute apart, in which each variant says this value of one height. */
function played(
  ticks: number,
  values: Readonly<Record<string, Said[1]>>,
  play = new ParityPlay(["a", "b", "c"]),
) {
  for (let tick = 0; tick < ticks; tick += 1) {
    const block = 1_000 + (play.nowMs % 1e9) / 2_000;
    play.read(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [block, value]])));
  }
  return play;
}

/** The parity report where every target has this status, unless told otherwise, and a fresh height. */
function reported(
  play: ParityPlay,
  {
    afterMs = 0,
    changed = {},
  }: { afterMs?: number; changed?: Record<string, { status?: Status; block?: null }> } = {},
): readonly ParityReport[] {
  const state = { ...startChain(WATCHED), parity: play.state };
  const watched = { ...WATCHED, probes: [play.probe] };
  const nowMs = play.nowMs + afterMs;
  const targets = reportTargets(state, watched, viewOf(state, BASE, nowMs)).map((report) => ({
    ...report,
    status: "ok" as const,
    block: 1_000,
    ...changed[report.target.variant],
  }));
  return reportParity(state, watched, { targets, nowMs });
}

function results(reports: readonly ParityReport[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    reports.map(({ against, odd, result, target }) => [
      `${target.variant} ${against.variant}`,
      odd === null ? result : `${result}, ${odd}`,
    ]),
  );
}

describe("reportParity()", () => {
  it("reports nothing of a chain without probes or readings", () => {
    const state = startChain(WATCHED);

    expect(reportParity(state, WATCHED, { targets: [], nowMs: 0 })).toEqual([]);
  });

  it("reports what was compared, since when, and what each said last", () => {
    const play = played(4, { a: 5, b: 7 }, new ParityPlay(["a", "b"]));

    const [report] = reported(play, { afterMs: 1_000 });

    const block = report?.compared?.block ?? 0;
    expect(report).toMatchObject({
      probe: "rows",
      result: "different",
      compared: { value: "7", againstValue: "5", difference: -2 },
      sinceMs: play.nowMs - 3 * MINUTE,
      lastComparisonMs: play.nowMs,
      odd: null,
      latest: {
        target: { block, value: "7", readMs: play.nowMs },
        against: { block, value: "5", readMs: play.nowMs },
      },
      detail: expect.stringMatching(/^differs from a for 3 min: 7 here and 5 there/),
    });
    expect(block).toBeGreaterThan(1_000);
  });

  it("reports a pair that was never read as unknown, without values", () => {
    expect(reported(new ParityPlay(["a", "b"]))).toMatchObject([
      {
        result: "unknown",
        compared: null,
        sinceMs: null,
        lastComparisonMs: null,
        latest: { target: null, against: null },
        detail: "not known to be equal to a: b was not read yet",
      },
    ]);
  });

  it("says which of three is the odd one, on whichever side of a pair", () => {
    expect(results(reported(played(4, { a: 5, b: 6, c: 5 })))).toEqual({
      "b a": "different, target",
      "c a": "equal",
      "c b": "different, against",
    });
    expect(results(reported(played(4, { a: 5, b: 6, c: 7 })))).toEqual({
      "b a": "different",
      "c a": "different",
      "c b": "different",
    });
  });

  it("is unknown once the last comparison is stale", () => {
    const play = played(1, { a: 5, b: 5, c: 5 });

    expect(results(reported(play, { afterMs: 5 * MINUTE }))["b a"]).toBe("equal");
    const [stale] = reported(play, { afterMs: 5 * MINUTE + 1 });

    expect(stale).toMatchObject({ result: "unknown", compared: null, sinceMs: null, lastComparisonMs: null });
  });

  it.each<{ changed: Record<string, { status?: Status; block?: null }>; unknown: string[]; why: string }>([
    { changed: { b: { status: "diverged" } }, unknown: ["b a", "c b"], why: "b is diverged" },
    { changed: { b: { status: "failed" } }, unknown: ["b a", "c b"], why: "b is failed" },
    { changed: { b: { block: null } }, unknown: ["b a", "c b"], why: "b has no fresh height" },
    { changed: { a: { status: "failed" } }, unknown: ["b a", "c a"], why: "a is failed" },
    { changed: { b: { status: "lagging" } }, unknown: [], why: "" },
  ])("says nothing of a target that cannot be relied on: $why", ({ changed, unknown, why }) => {
    const reports = reported(played(4, { a: 5, b: 6, c: 5 }), { changed });

    const found = reports.filter(({ result }) => result === "unknown");
    expect(found.map(({ target, against }) => `${target.variant} ${against.variant}`)).toEqual(unknown);
    expect(found.map(({ detail }) => detail.split(": ")[1])).toEqual(unknown.map(() => why));
    expect(found.map(({ lastComparisonMs, odd }) => lastComparisonMs ?? odd)).toEqual(
      unknown.map(() => null),
    );
  });
});

describe("oddTargets()", () => {
  it("are the sides that differ from the others", () => {
    const reports = reported(played(4, { a: 5, b: 6, c: 5 }));

    expect([...oddTargets(reports)]).toEqual(["airdrops/b/production/base"]);
    expect([...oddTargets(reported(played(4, { a: 6, b: 5, c: 5 })))]).toEqual([
      "airdrops/a/production/base",
    ]);
    expect([...oddTargets(reported(played(4, { a: 5, b: 5, c: 5 })))]).toEqual([]);
  });
});
