import { describe, expect, it } from "vitest";
import type { MaintenanceMatch, MaintenanceWindow } from "../../src/core/model/maintenance-window.ts";
import { targetId } from "../../src/core/model/report.ts";
import { openMaintenance } from "../../src/schedule/maintenance.ts";
import { sampleTarget } from "../views/sample-report.ts";

const HOUR_MS = 3_600_000;
const TARGET = sampleTarget({ protocol: "airdrops", variant: "subgraph" });
const SUNDAY = Date.UTC(2026, 10, 22);

const once: MaintenanceWindow = { kind: "once", match: {}, fromMs: SUNDAY, toMs: SUNDAY + HOUR_MS };
const weekly: MaintenanceWindow = {
  kind: "recurring",
  match: {},
  schedule: "0 0 23 * * 0",
  durationMs: 3 * HOUR_MS,
};
const yearly: MaintenanceWindow = { ...weekly, schedule: "0 0 0 1 6 *", durationMs: 200 * 24 * HOUR_MS };

describe("openMaintenance()", () => {
  it("is open from the start of a window to just before its end", () => {
    const isOpen = (window: MaintenanceWindow) => (hours: number) =>
      openMaintenance([window], SUNDAY + hours * HOUR_MS)(targetId(TARGET)) !== null;
    const moment = 1 / HOUR_MS;

    expect([-moment, 0, 1 - moment, 1].map(isOpen(once))).toEqual([false, true, true, false]);
    // From 23:00 on Sunday to 02:00 on Monday.
    expect([23 - moment, 23, 26 - moment, 26, 47.5].map(isOpen(weekly))).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    expect(isOpen(yearly)(0)).toBe(true);
    expect(openMaintenance([], SUNDAY)(targetId(TARGET))).toBeNull();
  });

  it("says when the last open window ends", () => {
    const endOf = (hours: number) =>
      openMaintenance([once, weekly], SUNDAY + hours * HOUR_MS)(targetId(TARGET));

    expect([endOf(0.5), endOf(23)]).toEqual([SUNDAY + HOUR_MS, SUNDAY + 26 * HOUR_MS]);
    expect(openMaintenance([yearly, once], SUNDAY)(targetId(TARGET))).toBeGreaterThan(SUNDAY + HOUR_MS);
  });

  it("covers the targets that match all of its keys", () => {
    const matches: readonly MaintenanceMatch[] = [
      {},
      { chain: "base" },
      { protocol: "airdrops", variant: "subgraph", tier: "production", chain: "base" },
      { chain: "mode" },
      { chain: "base", variant: "multichain" },
    ];

    const covered = matches.map(
      (match) => openMaintenance([{ ...once, match }], SUNDAY)(targetId(TARGET)) !== null,
    );

    expect(covered).toEqual([true, true, true, false, false]);
  });
});
