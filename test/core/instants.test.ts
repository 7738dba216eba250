import { expect, it } from "vitest";
import { shiftInstants } from "../../src/core/model/instants.ts";

it("shiftInstants() moves all instants of our own clock, and neither durations nor block times", () => {
  const state = {
    clock: {
      intervalMs: 2_000,
      seen: { blocks: [1, 2], timesMs: [1_000, 3_000] },
      reported: { blocks: [1, 2], timesMs: [1_000, 3_000] },
    },
    sources: [{ pollIntervalMs: 15_000, lastSuccessMs: 4_000, samples: [{ block: 2, receivedAtMs: 4_000 }] }],
    consensus: { head: null },
  };

  shiftInstants(state, 500);

  expect(state).toEqual({
    clock: {
      intervalMs: 2_000,
      seen: { blocks: [1, 2], timesMs: [1_500, 3_500] },
      reported: { blocks: [1, 2], timesMs: [1_000, 3_000] },
    },
    sources: [{ pollIntervalMs: 15_000, lastSuccessMs: 4_500, samples: [{ block: 2, receivedAtMs: 4_500 }] }],
    consensus: { head: null },
  });
});
