import { describe, expect, it } from "vitest";
import { cachedReport } from "../../../src/core/report/cached-report.ts";
import { BASE, headOf, Play, watch } from "../chain/chain-fixture.ts";

const [A, B] = ["airdrops/multichain", "airdrops/subgraph"];
const SECOND_MS = 1_000;

describe("cachedReport()", () => {
  it("returns the same report again while no poll has ended and it is young", () => {
    const played = play();
    const cached = cachedReport(null, played, played.nowMs + 100);

    expect(cachedReport(cached, played, played.nowMs + 14 * SECOND_MS)).toBe(cached);
  });

  it("makes a new report after a poll", () => {
    const played = play();
    const cached = cachedReport(null, played, played.nowMs + 100);
    played.run(1, () => ({ [A]: headOf(played.nowMs) + 1 }));

    const after = cachedReport(cached, played, played.nowMs + 100);

    expect(after.report).toEqual(played.report());
    expect(after.report).not.toEqual(cached.report);
  });

  it("makes a new report after 15 s, so that ages go on and stale evidence is dropped", () => {
    const played = play().run(4, () => ({ [A]: "connect", [B]: "connect" }));
    const cached = cachedReport(null, played, played.nowMs);

    const later = cachedReport(cached, played, played.nowMs + 15 * SECOND_MS);
    const stale = cachedReport(cached, played, played.nowMs + 301 * SECOND_MS);

    expect(cached.report.targets[0]?.detail).toContain("last height 60 s ago");
    expect(later.report.targets[0]?.detail).toContain("last height 75 s ago");
    expect(stale.report.reference).toBeNull();
  });

  it("makes a new report after the clock was set back", () => {
    const played = play();
    const cached = cachedReport(null, played, played.nowMs);

    expect(cachedReport(cached, played, played.nowMs - SECOND_MS)).not.toBe(cached);
  });
});

function play(): Play {
  return new Play(watch(BASE, A, B)).run(10, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs) }));
}
