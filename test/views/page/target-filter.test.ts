import { describe, expect, it } from "vitest";
import { statusJson } from "../../../src/views/api/status.ts";
import { filterByWords } from "../../../src/views/page/target-filter.ts";
import { defaultFleetReport } from "../default-fleet-report.ts";

const FLEET = statusJson(defaultFleetReport());

describe("filterByWords()", () => {
  it.each([
    { query: "lockup/base/subgraph", count: 4 },
    { query: "  LOCKUP   stalled ", count: 1 },
    { query: "84532", count: 6 },
    { query: "BNB", count: 6 },
    { query: "testnet", count: 24 },
    { query: "indexing_error", count: 1 },
    { query: "solana", count: 0 },
  ])("leaves $count targets for '$query'", ({ query, count }) => {
    expect(filterByWords(FLEET, query).targets).toHaveLength(count);
  });

  it("leaves everything as it is without a word", () => {
    expect(filterByWords(FLEET, "  ")).toBe(FLEET);
  });

  it("leaves only the chains that still have a target", () => {
    expect(filterByWords(FLEET, "xdc").chains.map(({ slug }) => slug)).toEqual(["xdc"]);
  });
});
