import { describe, expect, it } from "vitest";
import { ChainHistory } from "../../../src/core/history/history.ts";
import type { SavedRing } from "../../../src/core/history/ring.ts";
import { HOUR_MS, KEY, recorded, START_MS, SUBGRAPH, whole } from "./history-fixture.ts";

describe("ChainHistory, saved", () => {
  it("is the same after it was saved and restored", () => {
    const endMs = START_MS + 5 * HOUR_MS;
    const history = recorded(START_MS, endMs);

    const restored = new ChainHistory().restore(history.save());

    expect(restored.read([KEY], whole(endMs))).toEqual(history.read([KEY], whole(endMs)));
  });

  it.each([
    { case: "fewer steps", change: (ring: SavedRing) => ({ ...ring, timesMs: ring.timesMs.slice(1) }) },
    { case: "fewer columns", change: (ring: SavedRing) => ({ ...ring, columns: ring.columns.slice(1) }) },
    {
      case: "fewer values",
      change: (ring: SavedRing) => ({
        ...ring,
        columns: ring.columns.map(({ names, values }) => ({ names, values: values.slice(1) })),
      }),
    },
    {
      case: "values of another precision",
      change: (ring: SavedRing) => ({
        ...ring,
        columns: ring.columns.map(({ names, values }) => ({ names, values: new Float32Array(values) })),
      }),
    },
  ])("ignores saved data with $case", ({ change }) => {
    const { fine, coarse } = recorded(START_MS, START_MS + HOUR_MS).save();

    const restored = new ChainHistory().restore({ fine: change(fine), coarse: change(coarse) });

    expect(restored.read([KEY], whole(START_MS + HOUR_MS)).timesMs).toEqual([]);
  });

  it("takes memory only for what has values", () => {
    const { columns } = recorded(START_MS, START_MS + HOUR_MS).save().fine;

    expect(columns.map(({ names }) => names)).toEqual([
      [KEY, SUBGRAPH.key, "reference"],
      [KEY, SUBGRAPH.key],
      [SUBGRAPH.key],
      [SUBGRAPH.key],
    ]);
    expect(columns.map(({ values }) => values.byteLength / 120)).toEqual([3 * 8, 2 * 4, 4, 4]);
  });
});
