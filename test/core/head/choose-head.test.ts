import { describe, expect, it } from "vitest";
import { chooseHead } from "../../../src/core/head/choose-head.ts";
import type { Scene } from "../../../src/core/head/scene.ts";
import type { Voice } from "../../../src/core/head/voice.ts";
import { dated, heard, NOW, sceneOf, voice } from "./head-fixture.ts";

const HEAD = 1_000_000;

/** The key of the source that the head is taken from. */
function chosen(voices: readonly Voice[], changed: Partial<Scene> = {}): string | null {
  return chooseHead(voices, sceneOf(voices, changed)).chosen?.key ?? null;
}

function node(block: number, changed: Partial<Voice> = {}): Voice {
  return dated("rpc", block, { kind: "rpc", ...changed });
}

describe("chooseHead(): an RPC node whose block is fresh", () => {
  const apart = node(HEAD + 100);

  it("is believed alone where no two providers stand together", () => {
    const host = { provider: "host" };
    expect(chosen([voice("a", HEAD, host), voice("b", HEAD, host), apart])).toBe("rpc");
  });

  it("is believed alone where two providers stand together, of whom only one was seen to advance", () => {
    const still = { advancedMs: null };
    expect(chosen([voice("a", HEAD), voice("b", HEAD, still), apart])).toBe("rpc");
    expect(chosen([voice("a", HEAD, still), voice("b", HEAD, still), apart])).toBe("rpc");
  });

  it("is not believed against two providers that advance together", () => {
    expect(chosen([voice("a", HEAD), voice("b", HEAD), apart])).toBe("a");
  });

  it("takes the head above the second highest of those that it stands level with", () => {
    expect(chosen([voice("a", HEAD), voice("b", HEAD), node(HEAD + 10)])).toBe("rpc");
    expect(chosen([voice("a", HEAD), voice("b", HEAD), voice("c", HEAD + 10)])).toBe("a");
  });

  it("does not take the head below those that it stands level with", () => {
    expect(chosen([voice("a", HEAD), voice("b", HEAD), node(HEAD - 10)])).toBe("a");
  });

  it("is no proof once its block is older than a fresh one", () => {
    expect(chosen([voice("a", HEAD), voice("b", HEAD), node(HEAD + 10, { age: "unknown" })])).toBe("a");
  });
});

describe("chooseHead(): of those who stand level", () => {
  it("takes the highest of two", () => {
    expect(chosen([voice("a", HEAD), voice("b", HEAD + 20)])).toBe("b");
    expect(chosen([voice("a", HEAD), voice("b", HEAD + 20), voice("far", HEAD - 900, { age: "old" })])).toBe(
      "b",
    );
  });

  it("takes the second highest of three, though the two lower ones and a fourth are far below", () => {
    expect(
      chosen([voice("a", HEAD), voice("b", HEAD + 9), voice("c", HEAD + 20), voice("d", HEAD - 900)]),
    ).toBe("b");
  });

  it("takes the second highest of three of whom no two stand level", () => {
    expect(chosen([voice("a", HEAD), voice("b", HEAD + 100), voice("c", HEAD + 200)])).toBe("b");
  });

  it.each([
    { case: "earlier", first: "b", sources: [voice("a", HEAD), heard(10, voice("b", HEAD))] },
    { case: "earlier, listed first", first: "b", sources: [heard(10, voice("b", HEAD)), voice("a", HEAD)] },
  ])("takes of equal heights the one that was read $case", ({ first, sources }) => {
    expect(chosen(sources)).toBe(first);
  });

  it("believes the highest where it was asked again a round after the others, if the chain can have made so much", () => {
    const earlier = (agoSec: number) => [heard(agoSec, voice("a", HEAD)), heard(agoSec, voice("b", HEAD))];

    expect(chosen([...earlier(60), voice("c", HEAD + 40)])).toBe("c");
    expect(chosen([...earlier(22.5), voice("c", HEAD + 20)])).toBe("a");
  });

  it("does not believe the highest a round later where the chain cannot have made so much", () => {
    const earlier = [heard(60, voice("x", HEAD - 1_000)), heard(60, voice("a", HEAD))];

    expect(chosen([...earlier, voice("c", HEAD + 256)])).toBe("c");
    expect(chosen([...earlier, voice("c", HEAD + 257)])).toBe("a");
  });

  it("takes for the furthest, of those who will have got equally far, the one that has shown most", () => {
    const shown = voice("x", HEAD + 30, { pollIntervalMs: 30_000 });
    const others = [heard(60, voice("b", HEAD + 5)), heard(60, voice("c", HEAD + 5))].map((other) => ({
      ...other,
      pollIntervalMs: 40_000,
    }));

    expect(chosen([shown, ...others])).toBe("x");
    expect(chosen([...others, shown])).toBe("x");
  });
});

describe("chooseHead(): the first that is asked in a round", () => {
  /** Two others will be three blocks above `x` once they are asked. */
  function inRound(agoSec: number, pollIntervalMs = 15_000): string | null {
    const block = HEAD + 9 - agoSec / 2;
    const others = ["b", "c"].map((key) => heard(agoSec, voice(key, block, { pollIntervalMs })));
    return chosen([voice("x", HEAD + 6), ...others]);
  }

  it("does not give the head where two others will be above it once they answer", () => {
    expect(inRound(10)).toBe("b");
    expect(inRound(22.5)).toBe("b");
  });

  it("gives it where the others are asked less than half as often", () => {
    expect(inRound(10, 30_000)).toBe("b");
    expect(inRound(10, 30_001)).toBe("x");
  });

  it("gives it where the others missed a round", () => {
    expect(inRound(23)).toBe("x");
  });

  it("gives it where only one other will be above it", () => {
    const below = heard(10, voice("c", HEAD));
    expect(chosen([voice("x", HEAD + 6), heard(10, voice("b", HEAD + 4)), below])).toBe("x");
  });
});

describe("chooseHead(): who has a say", () => {
  const level = [voice("a", HEAD), voice("b", HEAD)];

  it.each([
    { case: "is behind by its own word", changed: { age: "old" } },
    { case: "has stood still for longer than any block takes", changed: { idleMs: 600_001 } },
    { case: "back-fills", changed: { isBackfilling: true } },
  ] as const)("nobody that $case", ({ changed }) => {
    const two = [voice("x", HEAD + 9, changed), voice("y", HEAD + 9, changed)];

    expect(chosen([...level, ...two])).toBe("a");
    expect(chosen(two)).toBe(null);
  });

  it("who has stood still for as long as a block may take", () => {
    const still = { idleMs: 600_000 };
    expect(chosen([...level, voice("x", HEAD + 9, still), voice("y", HEAD + 9, still)])).toBe("x");
  });

  it("nobody that goes at another pace, as long as anybody else has a say", () => {
    const [x, y] = [voice("x", HEAD + 9), voice("y", HEAD + 9)];

    expect(chosen([...level, x, y], { unsteady: new Set([x, y]) })).toBe("a");
    expect(chosen([x, y], { unsteady: new Set([x, y]) })).toBe("x");
  });

  it("nobody alone, if it is neither proof nor on the track", () => {
    const track = { block: HEAD, atMs: NOW, intervalMs: 2_000, members: ["a"] };

    expect(chosen([voice("a", HEAD)])).toBe(null);
    expect(chosen([voice("a", HEAD)], { track })).toBe("a");
    expect(chosen([voice("b", HEAD)], { track })).toBe(null);
    expect(chosen([node(HEAD)])).toBe("rpc");
  });

  describe("where all go faster than is believed of the chain", () => {
    const fast = { isBackfilling: true };
    const track = { block: HEAD, atMs: NOW - 60_000, intervalMs: 2_000, members: ["a", "b"] };

    it("two providers on from the last head: the chain bursts", () => {
      expect(chosen([voice("a", HEAD + 900, fast), voice("b", HEAD + 900, fast)], { track })).toBe("a");
      expect(chosen([voice("a", HEAD, fast), voice("b", HEAD, fast)], { track })).toBe("a");
    });

    it.each([
      {
        case: "one provider",
        sources: [voice("a", HEAD + 900, fast), voice("b", HEAD + 900, { ...fast, provider: "a" })],
      },
      {
        case: "one was never on the track",
        sources: [voice("a", HEAD + 900, fast), voice("c", HEAD + 900, fast)],
      },
      {
        case: "one is below the last head",
        sources: [voice("a", HEAD + 900, fast), voice("b", HEAD - 1, fast)],
      },
    ])("nobody where $case", ({ sources }) => {
      expect(chosen(sources, { track })).toBe(null);
    });

    it("nobody without a last head", () => {
      expect(chosen([voice("a", HEAD + 900, fast), voice("b", HEAD + 900, fast)])).toBe(null);
    });

    it("those who do not back-fill", () => {
      const sources = [
        voice("a", HEAD + 900, fast),
        voice("b", HEAD + 900, fast),
        voice("c", HEAD),
        voice("d", HEAD),
      ];
      expect(chosen(sources, { track })).toBe("c");
    });
  });
});
