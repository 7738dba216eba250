import { describe, expect, it } from "vitest";
import { cachedReport } from "../../../src/core/report/cached-report.ts";
import { BASE, headOf, Play, watch } from "../chain/chain-fixture.ts";

const [A, B] = ["airdrops/multichain", "airdrops/subgraph"];
const SECOND_MS = 1_000;

describe("tellChain()", () => {
  it("tells the same again while nothing is heard and the evidence is fresh", () => {
    const played = play();
    const told = cachedReport(null, played, played.nowMs + 100);

    const again = cachedReport(told, played, played.nowMs + 60 * SECOND_MS);

    expect(again).toBe(told);
  });

  it("tells anew what was heard since", () => {
    const played = play();
    const told = cachedReport(null, played, played.nowMs + 100);
    played.run(1, () => ({ [A]: headOf(played.nowMs) + 1 }));

    const after = cachedReport(told, played, played.nowMs + 100);

    expect(after.report).toEqual(played.report());
    expect(after.report).not.toEqual(told.report);
  });

  it("tells anew once evidence is stale", () => {
    const played = play();
    const told = cachedReport(null, played, played.nowMs + 100);

    const later = cachedReport(told, played, played.nowMs + 301 * SECOND_MS);

    expect(later.report.reference).toBeNull();
    expect(later.report.targets.map(({ status }) => status)).toEqual(["unknown", "unknown"]);
  });

  it("tells anew each time how old something is", () => {
    const played = play().run(4, () => ({ [A]: "connect", [B]: "connect" }));
    const told = cachedReport(null, played, played.nowMs);

    const later = cachedReport(told, played, played.nowMs + 5 * SECOND_MS);

    expect(told.report.targets[0]?.detail).toContain("last height 60 s ago");
    expect(later.report.targets[0]?.detail).toContain("last height 65 s ago");
  });

  it("tells anew after the clock was put back", () => {
    const played = play();
    const told = cachedReport(null, played, played.nowMs);

    expect(cachedReport(told, played, played.nowMs - SECOND_MS)).not.toBe(told);
  });
});

function play(): Play {
  return new Play(watch(BASE, A, B)).run(10, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs) }));
}
