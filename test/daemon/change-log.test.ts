import { describe, expect, it } from "vitest";
import type { Incident, ParityReport, Report, Status } from "../../src/core/model/report.ts";
import { logChanges } from "../../src/daemon/change-log.ts";
import { type LogLine, recordLog } from "../support/log-recorder.ts";
import {
  sampleChainReport,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../views/sample-report.ts";

const KEY = sampleTarget().key;
const INCIDENT: Incident = {
  scope: "host",
  subject: "indexer.example",
  sinceMs: Date.UTC(2026, 10, 20, 12),
  detail: "nobody there answers",
  targets: [KEY],
};

const LEVELS = { debug: 20, info: 30, warn: 40 };

describe("logChanges()", () => {
  it("says nothing while nothing changes", () => {
    expect(linesOf(reportOf("stalled", [INCIDENT]), reportOf("stalled", [INCIDENT]))).toEqual([]);
  });

  it.each([
    { from: "ok", to: "stalled", level: "warn" },
    { from: "lagging", to: "unreachable", level: "warn" },
    { from: "unknown", to: "rejected", level: "warn" },
    { from: "stalled", to: "ok", level: "info" },
    { from: "ok", to: "syncing", level: "info" },
    { from: "ok", to: "unknown", level: "info" },
    { from: "unknown", to: "ok", level: "debug" },
  ] satisfies { from: Status; to: Status; level: keyof typeof LEVELS }[])(
    "says once, as $level, that $from became $to",
    ({ from, to, level }) => {
      expect(linesOf(reportOf(from), reportOf(to))).toMatchObject([
        { level: LEVELS[level], msg: "Status changed", target: KEY, from, to, detail: "why" },
      ]);
    },
  );

  it("tells the beginning of an incident, and leaves what it explains at debug", () => {
    expect(linesOf(reportOf("ok"), reportOf("unreachable", [INCIDENT]))).toMatchObject([
      { level: 40, msg: "Incident began", scope: "host", subject: "indexer.example", targets: 1 },
      { level: 20, msg: "Status changed" },
    ]);
  });

  it("tells its end, and leaves the recoveries that come with it at debug", () => {
    expect(linesOf(reportOf("unreachable", [INCIDENT]), reportOf("ok"))).toMatchObject([
      { level: 30, msg: "Incident ended", since: "2026-11-20T12:00:00.000Z" },
      { level: 20, msg: "Status changed" },
    ]);
  });

  it("warns of what goes on otherwise after an incident", () => {
    expect(linesOf(reportOf("unreachable", [INCIDENT]), reportOf("stalled"))).toMatchObject([
      { msg: "Incident ended" },
      { level: 40, msg: "Status changed", to: "stalled" },
    ]);
  });

  it("does not tell an incident again whose text or targets have changed", () => {
    const grown = { ...INCIDENT, detail: "still nobody", targets: [KEY, "another"] };

    expect(linesOf(reportOf("unreachable", [INCIDENT]), reportOf("unreachable", [grown]))).toEqual([]);
  });

  it.each([
    { from: "equal", to: "different", level: "warn" },
    { from: "unknown", to: "different", level: "warn" },
    { from: "different", to: "equal", level: "info" },
    { from: "different", to: "unknown", level: "info" },
    { from: "unknown", to: "equal", level: "debug" },
  ] as const)("says once, as $level, that data that were $from are $to", ({ from, to, level }) => {
    const parity = (result: ParityReport["result"]) =>
      sampleReport({ chains: [sampleChainReport({ parity: [sampleParity({ result })] })] });

    expect(linesOf(parity(from), parity(to))).toMatchObject([
      { level: LEVELS[level], msg: "Parity changed", probe: "campaigns", against: KEY, from, to },
    ]);
    expect(linesOf(parity(to), parity(to))).toEqual([]);
  });

  it("says nothing of a target that a reload has brought or taken", () => {
    const empty = sampleReport({ chains: [] });

    expect(linesOf(empty, reportOf("stalled"))).toEqual([]);
    expect(linesOf(reportOf("stalled"), empty)).toEqual([]);
  });
});

function reportOf(status: Status, incidents: readonly Incident[] = []): Report {
  const targets = [sampleTargetReport({ status, detail: "why" })];
  return sampleReport({ chains: [sampleChainReport({ targets })], incidents });
}

function linesOf(before: Report, after: Report): readonly LogLine[] {
  const { logger, lines } = recordLog();
  logChanges(logger, before, after);
  return lines;
}
