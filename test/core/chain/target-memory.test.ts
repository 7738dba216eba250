import { describe, expect, it } from "vitest";
import type { Status } from "../../../src/core/model/report.ts";
import { BASE, headOf, Play, type Said, watch } from "./chain-fixture.ts";

const [A, B, C] = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain"];

/** A is what is tested; B and C are healthy. */
function play(): Play {
  return new Play(watch(BASE, A, B, C));
}

function withA(said: (nowMs: number, index: number) => Said) {
  return ({ nowMs, index }: { readonly nowMs: number; readonly index: number }) => ({
    [A]: said(nowMs, index),
    [B]: headOf(nowMs),
    [C]: headOf(nowMs),
  });
}

const healthy = withA((nowMs) => headOf(nowMs));

function statuses(
  played: Play,
  ticks: number,
  said: (nowMs: number, index: number) => Said,
): readonly Status[] {
  return Array.from(
    { length: ticks },
    (_, index) =>
      played
        .run(
          1,
          withA((nowMs) => said(nowMs, index)),
        )
        .target(A).status,
  );
}

describe("a target's memory", () => {
  it("counts small steps back, each once, and alarms on none", () => {
    const played = play().run(10, healthy);

    const said = statuses(played, 20, (nowMs, index) => headOf(nowMs) - (index % 4 === 0 ? 200 : 0));

    expect(new Set(said)).toEqual(new Set(["ok"]));
    expect(played.target(A).regressions).toEqual({ reorg: 5, reindex: 0 });
  });

  it("counts a large step back that does not persist once, as a wobble", () => {
    const played = play().run(10, healthy);

    const said = statuses(
      played,
      10,
      (nowMs, index) => headOf(nowMs) - (index === 3 || index === 4 ? 400_000 : 0),
    );

    expect(new Set(said)).toEqual(new Set(["ok"]));
    expect(played.target(A).regressions).toEqual({ reorg: 1, reindex: 0 });
  });

  it("takes a large step back that persists for a re-index, and is syncing until the tip is reached again", () => {
    const played = play().run(10, healthy);

    const said = statuses(played, 6, (_, index) => 5_000 + index * 4_000);

    expect(said.slice(2)).toEqual(["syncing", "syncing", "syncing", "syncing"]);
    expect(played.target(A)).toMatchObject({ regressions: { reorg: 0, reindex: 1 } });
    expect(played.target(A).detail).toMatch(/^catching up, about \d+ d \d+ h \([\d,]+ blocks\) behind/);
    expect(statuses(played, 12, (_, index) => 30_000 + index * 4_000).at(-1)).toBe("syncing");
    expect(statuses(played, 4, (nowMs) => headOf(nowMs)).at(-1)).toBe("ok");
  });

  it("remembers when its height last grew, not when it last answered", () => {
    const played = play().run(10, healthy);
    const { lastAdvanceMs } = played.target(A);
    const stuck = headOf(played.nowMs);

    played.run(
      5,
      withA(() => stuck - 3),
    );

    expect(lastAdvanceMs).toBe(played.nowMs - 75_000);
    expect(played.target(A)).toMatchObject({ lastAdvanceMs, lastSuccessMs: played.nowMs + 50 });
  });

  it("has not advanced when it was merely seen for the first time", () => {
    expect(play().run(1, healthy).target(A).lastAdvanceMs).toBeNull();
  });

  it("counts changes of the deployment, but not its absence", () => {
    const deployments = ["Qm1", "Qm1", null, "Qm1", "Qm2", "Qm2"];

    const played = play().run(6, ({ nowMs, index }) => ({
      [A]: { block: headOf(nowMs), deployment: deployments[index] ?? null },
    }));

    expect(played.target(A)).toMatchObject({ deployment: "Qm2", deploymentChanges: 1 });
  });

  it("keeps the last known timestamp where one answer leaves it out", () => {
    const played = play()
      .run(
        3,
        withA((nowMs) => ({ block: headOf(nowMs), timestampSec: 1_795_132_000 })),
      )
      .run(2, healthy);

    expect(played.target(A).blockTimestampSec).toBe(1_795_132_000);
  });

  it("takes no timestamp of the future for one", () => {
    const played = play().run(
      3,
      withA((nowMs) => ({ block: headOf(nowMs), timestampSec: nowMs })),
    );

    expect(played.target(A).blockTimestampSec).toBeNull();
  });

  it.each([0, -1, 1.5, 2 ** 53, Number.NaN])("holds %s for no height", (block) => {
    const played = play()
      .run(10, healthy)
      .run(
        2,
        withA(() => block),
      );

    expect(played.target(A)).toMatchObject({
      status: "diverged",
      up: false,
      reason: "implausible",
      detail: `answers for another chain or fork: implausible (block ${block}, which is no height)`,
    });
  });
});
