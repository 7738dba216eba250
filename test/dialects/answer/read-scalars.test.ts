import { describe, expect, it } from "vitest";
import { readPositiveInteger, readTimestampSec } from "../../../src/dialects/answer/read-scalars.ts";

describe("readTimestampSec()", () => {
  it.each([
    { value: 1757912345, seconds: 1757912345 },
    { value: "1757912345", seconds: 1757912345 },
    { value: "2025-09-15T04:59:05Z", seconds: 1757912345 },
    { value: "2025-09-15T04:59:05", seconds: 1757912345 },
    { value: "2025-09-15 04:59:05+00", seconds: 1757912345 },
    { value: "2025-09-15T10:29:05+0530", seconds: 1757912345 },
    { value: "2025-09-15T04:59:05.5+00:00", seconds: 1757912345.5 },
  ])("reads $value", ({ value, seconds }) => {
    expect(readTimestampSec(value)).toBe(seconds);
  });

  it.each([
    { case: "milliseconds", value: 1757912345000 },
    { case: "milliseconds as text", value: "1757912345000" },
    { case: "zero", value: 0 },
    { case: "a negative number", value: -5 },
    { case: "a day that does not exist", value: "2025-13-45T04:59:05Z" },
    { case: "a day without a time", value: "2025-09-15" },
    { case: "a word", value: "yesterday" },
    { case: "nothing", value: undefined },
    { case: "null", value: null },
    { case: "an object", value: {} },
  ])("is null for $case", ({ value }) => {
    expect(readTimestampSec(value)).toBeNull();
  });
});

describe("readPositiveInteger()", () => {
  it.each([
    { value: 1, number: 1 },
    { value: "8453", number: 8453 },
    { value: 2 ** 53 - 1, number: 9007199254740991 },
    { value: "9007199254740991", number: 9007199254740991 },
  ])("reads $value", ({ value, number }) => {
    expect(readPositiveInteger(value)).toBe(number);
  });

  it.each([
    0,
    -1,
    1.5,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "9007199254740992",
    "0",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    " 1",
    "",
    "١",
    true,
    null,
    undefined,
    [1],
    {},
  ])("is null for %j", (value) => {
    expect(readPositiveInteger(value)).toBeNull();
  });
});
