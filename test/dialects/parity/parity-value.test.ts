import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parityValueOf, withExactNumbers } from "../../../src/dialects/parity/parity-value.ts";

function textOf(value: unknown): string | undefined {
  return parityValueOf(value)?.text;
}

describe("parityValueOf()", () => {
  it.each([
    { one: "12.50", other: 12.5, text: "12.5" },
    { one: "0", other: "-0.00", text: "0" },
    { one: "7.0", other: 7, text: "7" },
    { one: "-1.10", other: "-1.1", text: "-1.1" },
    {
      one: "115792089237316195423570985008687907853269984665640564039457584007913129639935",
      other: "115792089237316195423570985008687907853269984665640564039457584007913129639935.0",
      text: "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    },
  ])("has one text for $one and $other", ({ one, other, text }) => {
    expect([textOf(one), textOf(other)]).toEqual([text, text]);
    expect(parityValueOf(one)?.isNumber).toBe(true);
  });

  it("keeps apart what is not the same", () => {
    const values = [
      null,
      true,
      false,
      "null",
      "true",
      "",
      " 7",
      "7",
      "007",
      "+7",
      "0x7",
      "7e0",
      ".7",
      "7.",
      "-",
      "0.7",
    ];

    expect(new Set(values.map(textOf)).size).toBe(values.length);
    expect(values.filter((value) => parityValueOf(value)?.isNumber)).toEqual(["7", "0.7"]);
  });

  it.each([[{ a: 1 }], [[1]], ["x".repeat(300)]])("has none for %j", (value) => {
    expect(parityValueOf(value)?.text).toBeUndefined();
  });
});

describe("withExactNumbers()", () => {
  it.each([
    ['{"a":9007199254740993}', '{"a":"9007199254740993"}'],
    ['[-0.10,"1 \\" 2",{"3":4}]', '["-0.10","1 \\" 2",{"3":"4"}]'],
    ["1.5e3", '"1500"'],
    ["-1e-3", '"-0.001"'],
    ["1.25E+1", '"12.5"'],
    ["0e5", '"0"'],
    ["1e999", '"1e999"'],
    ['"\\\\",1', '"\\\\","1"'],
  ])("writes %s as %s", (json, exact) => {
    expect(withExactNumbers(json)).toBe(exact);
  });

  it("agrees with JSON.parse wherever a double is exact", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const exact: unknown = JSON.parse(withExactNumbers(JSON.stringify(value)));
        expect(withNumbers(exact, value)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 200 },
    );
  });
});

/** Strings back to numbers, wherever `like` has one. */
describe("a hostile number", () => {
  it.each([
    { number: "with zeros before its last digit", of: (zeros: string) => `0.${zeros}1` },
    { number: "with zeros and an exponent", of: (zeros: string) => `1.${zeros}1e1` },
  ])("$number is read in a time that grows with its length alone", ({ of }) => {
    const msOf = (length: number) =>
      fastestMs(() => textOf(JSON.parse(withExactNumbers(of("0".repeat(length))))));

    // Ten times as long: about ten times the time, where a hundred times would be quadratic.
    expect(msOf(50_000) / msOf(5_000)).toBeLessThan(40);
  });
});

/** The least time of several runs: what else this machine does only adds to it. */
function fastestMs(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const startedMs = performance.now();
    work();
    return performance.now() - startedMs;
  });
  return Math.min(...times);
}

function withNumbers(value: unknown, like: unknown): unknown {
  if (typeof like === "number") {
    return Number(value);
  }
  if (Array.isArray(like) && Array.isArray(value)) {
    return value.map((item, index) => withNumbers(item, like[index]));
  }
  if (typeof like === "object" && like !== null && typeof value === "object" && value !== null) {
    const parts = new Map<string, unknown>(Object.entries(like));
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, withNumbers(part, parts.get(key))]),
    );
  }
  return value;
}
