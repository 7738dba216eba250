import { describe, expect, it } from "vitest";
import { addReading, newKnownValues } from "../../../src/core/parity/known-values.ts";

describe("addReading()", () => {
  it("keeps a value of up to 128 characters, and of a longer one the beginning and a digest, which is no number", () => {
    const [kept, cut] = [128, 129].map((length) => {
      const none = newKnownValues({ probe: "rows", target: "airdrops/a/production/base", query: "q" });
      const value = { text: "7".repeat(length), isNumber: true };
      return addReading(none, { block: 1, value, atMs: 0 }, 60_000).runs[0];
    });

    expect(kept).toMatchObject({ text: "7".repeat(128), isNumber: true });
    expect(cut?.text).toMatch(/^7{128}… \(\w+\)$/);
    expect(cut?.isNumber).toBe(false);
  });
});
