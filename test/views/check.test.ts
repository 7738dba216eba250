import { describe, expect, it } from "vitest";
import type { Report } from "../../src/core/model/report.ts";
import { STATUSES, STATUSES_BY_URGENCY } from "../../src/core/model/statuses.ts";
import { type CheckTableOptions, renderCheckTable } from "../../src/views/terminal/check.ts";
import { fleetReport } from "./fleet-report.ts";
import { sampleChainReport, sampleReport, sampleTargetReport } from "./sample-report.ts";

// test/fixtures/reports tests the texts for small reports.

describe("renderCheckTable()", () => {
  it("cuts lines of tables to the terminal's width", () => {
    const lines = render(fleetReport(), { widthColumns: 60 }).split("\n");

    expect(lines.find((line) => line.startsWith("failed "))).toMatch(/^.{59}…$/);
  });

  it("colours only on request, without changing the text", () => {
    const plain = render(fleetReport());
    const coloured = render(fleetReport(), { color: "ansi" });

    expect(plain).not.toContain("\u001B");
    expect(coloured).toContain("\u001B[33mstalled\u001B[0m ");
    expect(coloured.replaceAll(/\p{Cc}\[[0-9;]+m/gu, "")).toBe(plain);
  });

  it("removes control characters from texts of servers", () => {
    const hostile = sampleTargetReport({ status: "failed", detail: "a\u001B[2Jb\r\nok  forged\u202Ec" });

    const text = render(sampleReport({ chains: [sampleChainReport({ targets: [hostile] })] }));

    expect(text).toContain("a [2Jb ok  forged c");
    expect(text).not.toMatch(/[^\n\P{Cc}]/u);
  });
});

it("ranks each status once by its urgency", () => {
  expect(STATUSES_BY_URGENCY.toSorted()).toEqual(STATUSES.toSorted());
});

function render(report: Report, options: Partial<CheckTableOptions> = {}): string {
  const usual = {
    color: "none",
    widthColumns: null,
    statusesUrl: "x",
    unfiltered: report,
    selections: [],
  } as const;
  return renderCheckTable(report, { ...usual, ...options });
}
