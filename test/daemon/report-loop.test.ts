import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startReportLoop } from "../../src/daemon/report-loop.ts";
import { TRIO } from "../scenarios/statuses/fleets.ts";
import { recordLog } from "../support/log-recorder.ts";
import { ScriptedFleet } from "../support/scripted-fleet.ts";

describe("startReportLoop()", () => {
  it("records a report each second with news, and each fifteen without", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const play = new ScriptedFleet(TRIO).run("1m");
    const world = { hasNews: true, startMs: play.nowMs };
    const recordedAt: number[] = [];
    await using _loop = startReportLoop(
      {
        prepare: () => Promise.resolve(),
        report: () => play.report(),
        ready: () => ({ ok: true, detail: "" }),
        hasNewsSince: () => world.hasNews,
        isPolling: () => true,
      },
      {
        record: (report) => {
          recordedAt.push((Date.parse(report.generated_at) - world.startMs) / 1_000);
          return Promise.resolve();
        },
      },
      { note: () => [] },
      { note: () => undefined },
      {
        logger: recordLog().logger,
        nowMs: () => play.nowMs,
        onBug: (error) => {
          throw error;
        },
      },
    );

    for (let second = 1; second <= 34; second += 1) {
      world.hasNews = second <= 3;
      play.wait("1s");
      await vi.advanceTimersByTimeAsync(1_000);
    }

    expect(recordedAt).toEqual([1, 2, 3, 18, 33]);
  });
});
