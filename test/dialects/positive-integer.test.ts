import { describe, expect, it } from "vitest";
import { readPositiveInteger } from "../../src/dialects/positive-integer.ts";

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
