import { describe, expect, it } from "vitest";
import { News } from "../../src/daemon/news.ts";
import { NOW_MS, sampleChainReport, sampleReport, sampleTargetReport } from "../views/sample-report.ts";

describe("News", () => {
  it("tells a turn at once", () => {
    const { news, told } = listen();

    news.take(reportAt(0, "ok"));
    news.take(reportAt(1_000, "stalled"));
    news.take(reportAt(2_000, "ok"));

    expect(told).toEqual([NOW_MS, NOW_MS + 1_000, NOW_MS + 2_000]);
  });

  it("tells an incident at once", () => {
    const { news, told } = listen();
    const incident = { scope: "host", subject: "a.example", sinceMs: 0, detail: "", targets: [] } as const;

    news.take(reportAt(0, "ok"));
    news.take({ ...reportAt(1_000, "ok"), incidents: [incident] });

    expect(told).toHaveLength(2);
  });

  it("tells every five seconds while nothing turns", () => {
    const { news, told } = listen();

    for (let second = 0; second < 15; second += 1) {
      news.take(reportAt(second * 1_000, "ok"));
    }

    expect(told).toEqual([NOW_MS, NOW_MS + 5_000, NOW_MS + 10_000]);
  });

  it("goes on telling after the clock was put back", () => {
    const { news, told } = listen();

    news.take(reportAt(0, "ok"));
    news.take(reportAt(-3_600_000, "ok"));

    expect(told).toHaveLength(2);
  });

  it("tells nothing more to one that no longer listens", () => {
    const { news, told, stop } = listen();

    stop();
    news.take(reportAt(0, "ok"));

    expect(told).toEqual([]);
  });
});

function listen() {
  const news = new News();
  const told: number[] = [];
  const stop = news.subscribe((id) => told.push(id));
  return { news, told, stop };
}

function reportAt(afterMs: number, status: "ok" | "stalled") {
  return sampleReport({
    generatedAtMs: NOW_MS + afterMs,
    chains: [sampleChainReport({ targets: [sampleTargetReport({ status })] })],
  });
}
