import type { Logger } from "pino";
import type { Event } from "../core/events/event.ts";
import {
  type Incident,
  incidentOfKey,
  type Report,
  type Severity,
  sharedCauses,
} from "../core/model/report.ts";
import { judgeReport, needsAction } from "../core/report/severity.ts";
import type { World } from "../io/world.ts";
import type { Daemon } from "./daemon.ts";
import type { Notifier } from "./notify.ts";
import type { EventStore } from "./state/event-store.ts";
import type { HistoryStore } from "./state/history-store.ts";

const INTERVAL_MS = 1_000;
const SAMPLE_MS = 15_000;

/**
 * Lets the daemon decide each second. When a status has changed, and every 15 s, stores and logs the events since the last
 * report and calls the webhook. Every 15 s also records the report for the plots.
 */
export function startReportLoop(
  daemon: Pick<Daemon, "decideIncidents" | "isPolling" | "prepare" | "ready" | "tick">,
  history: Pick<HistoryStore, "record">,
  events: Pick<EventStore, "note">,
  notifier: Pick<Notifier, "note">,
  world: Pick<World, "logger" | "monotonicMs" | "onBug">,
): AsyncDisposable {
  let previous = daemon.decideIncidents();
  let sampledMs = Number.NEGATIVE_INFINITY;
  let isReady = false;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await daemon.prepare();
    const report = daemon.decideIncidents();
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
  const timer = setInterval(() => {
    const hasTurned = daemon.tick();
    const isNews = isReady ? hasTurned : daemon.ready().ok;
    if (running === null && (isNews || isSampleDue())) {
      running = run()
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

/** Logs the events between two reports. A status that an incident explains is covered by the line of the incident. */
function logEvents(logger: Logger, events: readonly Event[], before: Report, after: Report): void {
  const [wasExplained, isExplained] = [explainedBy(before.incidents), explainedBy(after.incidents)];
  for (const event of events) {
    const { kind, subject, to } = event;
    const severity = kind === "status" ? judgeReport(after).targets.get(subject) : undefined;
    const isCovered = isExplained.has(subject) || (to === "ok" && wasExplained.has(subject));
    logEvent(isCovered && kind === "status" ? "debug" : levelOf(event, severity), event, logger);
  }
}

function logEvent(
  level: Level,
  { kind, subject, from, to, detail, target_count }: Event,
  logger: Logger,
): void {
  if (kind === "incident") {
    // The line of the status covers an incident of one target.
    if (incidentOfKey(subject).kind !== "cause" && target_count === 1) {
      return;
    }
    logger[level]({ detail, targets: target_count, ...incidentOfKey(subject) }, `Incident ${to}`);
  } else if (kind === "parity") {
    logger[level]({ compared: subject, from, to, detail }, "Parity changed");
  } else if (kind === "status") {
    logger[level]({ target: subject, from, to, detail }, "Status changed");
  }
}

type Level = "debug" | "info" | "warn";

/** `severity`: of the target whose status changed. A target that is healthy at the start is not worth a line. */
function levelOf({ from, to }: Event, severity: Severity | undefined): Level {
  if (from === "unknown" && to === "ok") {
    return "debug";
  }
  const isFault = severity === undefined ? to !== "equal" && to !== "ended" : needsAction(severity);
  return isFault && to !== "ok" ? "warn" : "info";
}

function explainedBy(incidents: readonly Incident[]): ReadonlySet<string> {
  return new Set(sharedCauses(incidents).flatMap((incident) => incident.targets));
}
