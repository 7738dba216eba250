import { describe, expect, it } from "vitest";
import { isHeight, sampleOf } from "../../../src/core/model/sample.ts";

describe("the accepted values of a head", () => {
  it("are times of up to a minute from now", () => {
    const nowSec = 1_800_000_000;
    const times = { sentAtMs: nowSec * 1_000 - 50, receivedAtMs: nowSec * 1_000 };
    const said = [nowSec - 5, nowSec + 60, nowSec + 61, 1, 0, -1, Number.NaN, null];

    const kept = said.map((timestampSec) => {
      const head = { block: 7, timestampSec, hash: "0xa", deployment: null, indexingErrors: null };
      return sampleOf(head, times, { wallOffsetMs: 0 });
    });

    const sample = { block: 7, hash: "0xa", ...times };
    const believed = [nowSec - 5, nowSec + 60, null, 1, null, null, null, null];
    expect(kept).toEqual(believed.map((timestampSec) => ({ ...sample, timestampSec })));
  });

  it("are heights that are positive safe integers", () => {
    const heights = [1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, 0, -1, 0.5, Number.NaN];

    expect(heights.filter(isHeight)).toEqual([1, Number.MAX_SAFE_INTEGER]);
  });
});
