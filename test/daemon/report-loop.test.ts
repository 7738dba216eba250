import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Report } from "../../src/core/model/report.ts";
import { startReportLoop } from "../../src/daemon/report-loop.ts";
import { TRIO } from "../scenarios/statuses/fleets.ts";
import { recordLog } from "../support/log-recorder.ts";
import { ScriptedFleet } from "../support/scripted-fleet.ts";

describe("startReportLoop()", () => {
  it("makes a report each second in which a status changes, and every 15 s, when the plots record it", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const play = new ScriptedFleet(TRIO).run("1m");
    const startMs = play.nowMs;
    let hasTurned = false;
    const secondsOf = (reports: readonly Report[]) =>
      reports.map((report) => (Date.parse(report.generated_at) - startMs) / 1_000);
    const recorded: Report[] = [];
    const noted: Report[] = [];
    await using _loop = startReportLoop(
      {
        prepare: () => Promise.resolve(),
        decideIncidents: () => play.report(),
        ready: () => ({ ok: true, detail: "" }),
        tick: () => hasTurned,
        isPolling: () => true,
      },
      {
        record: (report) => {
          recorded.push(report);
          return Promise.resolve();
        },
      },
      { note: () => [] },
      { note: (report) => void noted.push(report) },
      {
        logger: recordLog().logger,
        monotonicMs: () => play.nowMs,
        onBug: (error) => {
          throw error;
        },
      },
    );

    for (let second = 1; second <= 34; second += 1) {
      hasTurned = second === 3 || second === 4;
      play.wait("1s");
      await vi.advanceTimersByTimeAsync(1_000);
    }

    expect(secondsOf(noted)).toEqual([1, 3, 4, 16, 31]);
    expect(secondsOf(recorded)).toEqual([1, 16, 31]);
  });
});
