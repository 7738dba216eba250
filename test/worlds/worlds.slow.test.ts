import { describe, expect, it } from "vitest";
import { FAMILIES, playFamily } from "./families.ts";

/** How many worlds of a family. */
const SAMPLES = {
  ...{ faults: 1, gaps: 1, lags: 1, days: 1, clocks: 1, paces: 1, parity: 3, fleets: 3 },
  ...{ random: 2, long: 1, falling: 2, restarts: 3, takeovers: 5, passing: 3 },
};

describe("a part of what `npm run worlds` plays goes as right as docs/ACCURACY.md says", () => {
  it.each(Object.entries(SAMPLES))("%s", { timeout: 300_000 }, (name, count) => {
    const { rows, wrong } = playFamily(FAMILIES[name] ?? fail(name), { count, from: 0 });

    expect(rows).not.toEqual([]);
    expect(wrong).toEqual([]);
  });
});

function fail(name: string): never {
  throw new RangeError(`Cannot find worlds of the family ${name}`);
}
