import { describe, expect, it } from "vitest";
import { BASE, headOf, Play, type Said, watch } from "./chain-fixture.ts";

const [A, B, C, D] = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"];
const FAR = 1_000_000;

/** Who of A, B, C and D tells a head that is a million blocks too high. */
function lying(...liars: readonly string[]) {
  return ({ nowMs }: { readonly nowMs: number }): Readonly<Record<string, Said>> =>
    Object.fromEntries([A, B, C, D].map((name) => [name, headOf(nowMs) + (liars.includes(name) ? FAR : 0)]));
}

function play(): Play {
  return new Play(watch(BASE, A, B, C, D));
}

function statuses(played: Play): readonly string[] {
  return [A, B, C, D].map((name) => played.target(name).status);
}

describe("a restart while somebody lies", () => {
  it("tells the same as without a restart", () => {
    const kept = play().run(40, lying(D)).restart().run(3, lying(D));
    const through = play().run(43, lying(D));

    expect(kept.report()).toEqual(through.report());
    expect(statuses(kept)).toEqual(["ok", "ok", "ok", "diverged"]);
  });

  it("believes the majority at once where no state was kept", () => {
    const played = play().wait(600_000).run(3, lying(D));

    expect(played.report().reference?.block).toBe(headOf(played.nowMs));
    expect(statuses(played)).toEqual(["ok", "ok", "ok", "diverged"]);
  });

  it.each([
    { case: "takes back what it told", after: [] as readonly string[] },
    { case: "is a minority from then on", after: [D] },
  ])("is outvoted within three polls where a majority of liars wrote the state, and $case", ({ after }) => {
    const played = play().run(40, lying(B, C, D));
    expect(played.report().reference?.block).toBe(headOf(played.nowMs) + FAR);

    played.restart().run(3, lying(...after));
    expect(played.report().reference?.block).toBe(headOf(played.nowMs));
    played.run(2, lying(...after));

    expect(statuses(played)).toEqual(["ok", "ok", "ok", after.includes(D) ? "diverged" : "ok"]);
  });
});
