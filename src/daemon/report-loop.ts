import type { Report } from "../core/model/report.ts";
import type { World } from "../io/world.ts";
import { logEvents } from "./change-log.ts";
import type { Daemon } from "./daemon.ts";
import type { Notifier } from "./notify.ts";
import type { EventStore } from "./state/event-store.ts";
import type { HistoryStore } from "./state/history-store.ts";

const INTERVAL_MS = 1_000;
/** A report without news is not processed again. */
const WITHOUT_NEWS_MS = 15_000;

/** Every second, if there is news: stores and logs the events since the last report, calls the webhook, and records the report for the plots. */
export function startReportLoop(
  daemon: Pick<Daemon, "hasNewsSince" | "isPolling" | "prepare" | "ready" | "report">,
  history: Pick<HistoryStore, "record">,
  events: Pick<EventStore, "note">,
  notifier: Pick<Notifier, "note">,
  world: Pick<World, "logger" | "nowMs" | "onBug">,
): AsyncDisposable {
  let previous = daemon.report();
  let isReady = false;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await daemon.prepare();
    const report = daemon.report();
    await history.record(report);
    if (!isReady && daemon.ready().ok) {
      isReady = true;
      world.logger.info(countStatuses(report), "First round done");
    }
    // A standby would repeat the events of the leader.
    if (daemon.isPolling()) {
      logEvents(world.logger, events.note(report, isReady), previous, report);
    }
    notifier.note(report);
    previous = report;
  }

  const isDue = (): boolean =>
    !isReady ||
    daemon.hasNewsSince(previous) ||
    Math.abs(world.nowMs() - Date.parse(previous.generated_at)) >= WITHOUT_NEWS_MS;

  const timer = setInterval(() => {
    if (!isDue()) {
      return;
    }
    running ??= run()
      .catch(world.onBug)
      .finally(() => {
        running = null;
      });
  }, INTERVAL_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}

function countStatuses(report: Report): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of report.targets) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
