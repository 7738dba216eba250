import { describe, expect, it } from "vitest";
import type { MaintenanceMatch, MaintenanceWindow } from "../../src/core/model/maintenance-window.ts";
import { openMaintenance } from "../../src/schedule/maintenance.ts";
import { targetOf } from "../support/endpoints.ts";

const HOUR_MS = 3_600_000;
/** A Sunday. */
const SUNDAY = Date.UTC(2026, 10, 22);

const weekly: MaintenanceWindow = {
  kind: "recurring",
  match: {},
  schedule: "0 0 23 * * 0",
  durationMs: 3 * HOUR_MS,
};
const once: MaintenanceWindow = { kind: "once", match: {}, fromMs: SUNDAY, toMs: SUNDAY + HOUR_MS };

describe("openMaintenance()", () => {
  it.each([
    { case: "a moment before it starts", window: once, atMs: SUNDAY - 1, open: false },
    { case: "at its start", window: once, atMs: SUNDAY, open: true },
    { case: "in its last moment", window: once, atMs: SUNDAY + HOUR_MS - 1, open: true },
    { case: "at its end", window: once, atMs: SUNDAY + HOUR_MS, open: false },
    { case: "a moment before a recurring one", window: weekly, atMs: SUNDAY + 23 * HOUR_MS - 1, open: false },
    { case: "at the start of a recurring one", window: weekly, atMs: SUNDAY + 23 * HOUR_MS, open: true },
    { case: "on the day after, while it lasts", window: weekly, atMs: SUNDAY + 26 * HOUR_MS - 1, open: true },
    { case: "on the day after, at its end", window: weekly, atMs: SUNDAY + 26 * HOUR_MS, open: false },
    { case: "on another day", window: weekly, atMs: SUNDAY + 47.5 * HOUR_MS, open: false },
    {
      case: "in one of months",
      window: { ...weekly, schedule: "0 0 0 1 6 *", durationMs: 200 * 24 * HOUR_MS },
      atMs: SUNDAY,
      open: true,
    },
  ])("is $open $case", ({ window, atMs, open }) => {
    expect(openMaintenance([window], atMs)(targetOf())).toBe(open);
  });

  it.each<{ match: MaintenanceMatch; marked: boolean }>([
    { match: {}, marked: true },
    { match: { chain: "base" }, marked: true },
    { match: { protocol: "airdrops", variant: "subgraph", tier: "production", chain: "base" }, marked: true },
    { match: { chain: "mode" }, marked: false },
    { match: { chain: "base", variant: "multichain" }, marked: false },
  ])("marks what matches $match", ({ match, marked }) => {
    expect(openMaintenance([{ ...once, match }], SUNDAY)(targetOf())).toBe(marked);
  });

  it("marks nothing without a window", () => {
    expect(openMaintenance([], SUNDAY)(targetOf())).toBe(false);
  });
});
