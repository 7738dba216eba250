import type { Logger } from "pino";
import {
  type Incident,
  incidentKey,
  type ParityReport,
  type Report,
  type Status,
  type TargetReport,
} from "../core/model/report.ts";

/** Logs what changed from one report to the next: each change of status, and each begin and end of an incident. */
export function logChanges(logger: Logger, before: Report, after: Report): void {
  logIncidents(logger, before.incidents, after.incidents);
  logParity(logger, before, after);
  const changes = changesBetween(before, after);
  if (changes.length === 0) {
    return;
  }
  const wasExplained = explainedBy(before.incidents);
  const isExplained = explainedBy(after.incidents);
  for (const { from, report } of changes) {
    const { key, status: to, reason, detail } = report;
    // Already covered by the incident's log line.
    const isCovered = isExplained.has(key) || (to === "ok" && wasExplained.has(key));
    logger[isCovered ? "debug" : levelOf(from, to)](
      { target: key, from, to, reason, detail },
      "Status changed",
    );
  }
}

function logParity(logger: Logger, before: Report, after: Report): void {
  const previous = new Map(
    changed(before.parity, after.parity).map((one) => [parityKey(one), one.result] as const),
  );
  for (const one of changed(after.parity, before.parity)) {
    const from = previous.get(parityKey(one));
    const { probe, key: target, against_key: against, result: to, detail } = one;
    if (from !== undefined && from !== to) {
      const level = from === "different" ? "info" : "debug";
      logger[to === "different" ? "warn" : level](
        { probe, target, against, from, to, detail },
        "Parity changed",
      );
    }
  }
}

function parityKey({ probe, key, against_key: against }: ParityReport): string {
  return `${probe} ${key} ${against}`;
}

/** A target that is healthy at the start is not worth a line. */
function levelOf(from: Status, to: Status): "debug" | "info" | "warn" {
  if (from === "unknown" && to === "ok") {
    return "debug";
  }
  return to === "ok" || to === "unknown" || to === "syncing" ? "info" : "warn";
}

function explainedBy(incidents: readonly Incident[]): ReadonlySet<string> {
  return new Set(incidents.flatMap((incident) => incident.targets));
}

function logIncidents(logger: Logger, before: readonly Incident[], after: readonly Incident[]): void {
  const had = new Map(before.map((incident) => [incidentKey(incident), incident]));
  for (const incident of after) {
    if (!had.delete(incidentKey(incident))) {
      const { scope, subject, detail, targets } = incident;
      logger.warn({ scope, subject, targets: targets.length, detail }, "Incident began");
    }
  }
  for (const { scope, subject, since } of had.values()) {
    logger.info({ scope, subject, since }, "Incident ended");
  }
}

interface StatusChange {
  readonly from: Status;
  readonly report: TargetReport;
}

function changesBetween(before: Report, after: Report): readonly StatusChange[] {
  const previous = new Map(changed(before.targets, after.targets).map(({ key, status }) => [key, status]));
  return changed(after.targets, before.targets).flatMap((report) => {
    const from = previous.get(report.key);
    return from === undefined || from === report.status ? [] : [{ from, report }];
  });
}

/** What is the same object, at the same position, did not change. */
function changed<One>(all: readonly One[], others: readonly One[]): readonly One[] {
  return all.filter((one, index) => one !== others[index]);
}
