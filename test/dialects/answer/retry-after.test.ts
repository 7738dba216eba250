import { describe, expect, it } from "vitest";
import { readRetryAfterMs } from "../../../src/dialects/answer/retry-after.ts";

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 0);

describe("readRetryAfterMs()", () => {
  it.each([
    { header: "0", waitMs: 0 },
    { header: " 120 ", waitMs: 120_000 },
    { header: "Sun, 06 Nov 1994 08:49:37 GMT", waitMs: 37_000 },
    { header: "Sunday, 06-Nov-94 08:49:37 GMT", waitMs: 37_000 },
    { header: "Sun, 06 Nov 1994 08:00:00 GMT", waitMs: 0 },
  ])("reads $header", ({ header, waitMs }) => {
    expect(readRetryAfterMs(header, NOW_MS)).toBe(waitMs);
  });

  it.each([null, "", "soon", "-5", "1.5", "9".repeat(30), "Sun, 99 Foo 1994 08:49:37 GMT"])(
    "is null for %j",
    (header) => {
      expect(readRetryAfterMs(header, NOW_MS)).toBeNull();
    },
  );
});
