import { describe, expect, it } from "vitest";
import { nearMiss, nearMissHint } from "../../../src/core/text/near-miss.ts";

describe("nearMiss()", () => {
  it.each([
    { typed: "bsae", meant: "base" },
    { typed: "Base", meant: "base" },
    { typed: "arbitum", meant: "arbitrum" },
    { typed: "base-sepolai", meant: "base-sepolia" },
    { typed: "bas", meant: "base" },
    { typed: "base", meant: "base" },
    { typed: "abse", meant: "base" },
    { typed: "bxse", meant: "base" },
    { typed: "xbase", meant: "base" },
    { typed: "bxye", meant: null },
    { typed: "sbea", meant: null },
    { typed: "abes", meant: null },
    { typed: "arbixyzm", meant: null },
    { typed: "arxxtrum", meant: "arbitrum" },
    { typed: "rabitrmu", meant: "arbitrum" },
    { typed: "basesepo", meant: "base-sepolia" },
    { typed: "solana", meant: null },
    { typed: "", meant: null },
  ])("takes $typed for $meant", ({ typed, meant }) => {
    expect(nearMiss(typed, ["arbitrum", "base", "base-sepolia"])).toBe(meant);
  });

  it("allows one mistake in the shortest words", () => {
    expect(nearMiss("ax", ["ab"])).toBe("ab");
    expect(nearMiss("xy", ["ab"])).toBeNull();
  });

  it.each(["lxyzup", "lcxyup", "lxoyup"])(
    "takes only two letters that change places for one mistake: not in %s",
    (typed) => {
      expect(nearMiss(typed, ["lockup"])).toBeNull();
    },
  );

  it("is null where nothing is known", () => {
    expect(nearMiss("base", [])).toBeNull();
  });
});

describe("nearMissHint()", () => {
  it("asks for the near word, and is empty without one", () => {
    expect(nearMissHint("lokcup", ["lockup"])).toBe(" (did you mean 'lockup'?)");
    expect(nearMissHint("vesting", ["lockup"])).toBe("");
  });
});
