import type { Logger } from "pino";
import type { Event } from "../core/events/event.ts";
import { type Incident, incidentKey, incidentOfKey, type Report } from "../core/model/report.ts";
import type { World } from "../io/world.ts";
import type { Daemon } from "./daemon.ts";
import type { Notifier } from "./notify.ts";
import type { EventStore } from "./state/event-store.ts";
import type { HistoryStore } from "./state/history-store.ts";

const INTERVAL_MS = 1_000;
/** How often the plots get a sample. Changes that turn no status are noted then. */
const SAMPLE_MS = 15_000;

/**
 * Stores and logs the events since the last report, and calls the webhook: within a second after a status has turned, and every
 * 15 s. Every 15 s it also records the report for the plots.
 */
export function startReportLoop(
  daemon: Pick<Daemon, "hasTurnedSince" | "isPolling" | "prepare" | "ready" | "report">,
  history: Pick<HistoryStore, "record">,
  events: Pick<EventStore, "note">,
  notifier: Pick<Notifier, "note">,
  world: Pick<World, "logger" | "monotonicMs" | "onBug">,
): AsyncDisposable {
  let previous = daemon.report();
  let sampledMs = Number.NEGATIVE_INFINITY;
  let isReady = false;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await daemon.prepare();
    const report = daemon.report();
    if (isSampleDue()) {
      sampledMs = world.monotonicMs();
      await history.record(report);
    }
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

  const isSampleDue = (): boolean => world.monotonicMs() - sampledMs >= SAMPLE_MS;
  const isDue = (): boolean => {
    // Also decides what the polls of the last second have shown.
    const hasTurned = daemon.hasTurnedSince(previous);
    const isNews = isReady ? hasTurned : daemon.ready().ok;
    return isNews || isSampleDue();
  };

  const timer = setInterval(() => {
    if (isDue()) {
      running ??= run()
        .catch(world.onBug)
        .finally(() => {
          running = null;
        });
    }
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

/** Logs what happened between two reports: incidents first, because they explain statuses. */
function logEvents(logger: Logger, events: readonly Event[], before: Report, after: Report): void {
  const began = new Map(before.incidents.map((incident) => [incidentKey(incident), incident.since]));
  for (const { kind, subject, from, to, detail, target_count: targets } of events) {
    if (kind === "incident" && to === "began") {
      logger.warn({ detail, targets, ...incidentOfKey(subject) }, "Incident began");
    } else if (kind === "incident") {
      logger.info({ ...incidentOfKey(subject), since: began.get(subject) }, "Incident ended");
    } else if (kind === "parity") {
      const [probe, target, against] = subject.split(" ");
      const fields = { probe, target, against, from, to, detail };
      logger[to === "different" ? "warn" : "info"](fields, "Parity changed");
    }
  }
  const statuses = events.filter(({ kind }) => kind === "status");
  if (statuses.length > 0) {
    logStatuses(logger, statuses, before, after);
  }
}

function logStatuses(logger: Logger, events: readonly Event[], before: Report, after: Report): void {
  const reasons = new Map(after.targets.map(({ key, reason }) => [key, reason]));
  const wasExplained = explainedBy(before.incidents);
  const isExplained = explainedBy(after.incidents);
  for (const { subject: target, from, to, detail } of events) {
    // Already covered by the incident's log line.
    const isCovered = isExplained.has(target) || (to === "ok" && wasExplained.has(target));
    const fields = { target, from, to, reason: reasons.get(target) ?? null, detail };
    logger[isCovered ? "debug" : levelOf(from, to)](fields, "Status changed");
  }
}

/** A target that is healthy at the start is not worth a line. */
function levelOf(from: string | null, to: string): "debug" | "info" | "warn" {
  if (from === "unknown" && to === "ok") {
    return "debug";
  }
  return to === "ok" || to === "unknown" || to === "syncing" ? "info" : "warn";
}

function explainedBy(incidents: readonly Incident[]): ReadonlySet<string> {
  return new Set(incidents.flatMap((incident) => incident.targets));
}
