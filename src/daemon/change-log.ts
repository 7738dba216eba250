import type { Logger } from "pino";
import {
  type ChainReport,
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
    const { target, status: to, reason, detail } = report;
    const { key } = target;
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
    changed(before.chains, after.chains).flatMap(({ parity }) =>
      parity.map((one) => [parityKey(one), one.result] as const),
    ),
  );
  for (const one of changed(after.chains, before.chains).flatMap(({ parity }) => parity)) {
    const from = previous.get(parityKey(one));
    const { probe, target, against, result: to, detail } = one;
    if (from !== undefined && from !== to) {
      const level = from === "different" ? "info" : "debug";
      logger[to === "different" ? "warn" : level](
        { probe, target: target.key, against: against.key, from, to, detail },
        "Parity changed",
      );
    }
  }
}

function parityKey({ probe, target, against }: ParityReport): string {
  return `${probe} ${target.key} ${against.key}`;
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
  for (const { scope, subject, sinceMs } of had.values()) {
    logger.info({ scope, subject, since: new Date(sinceMs).toISOString() }, "Incident ended");
  }
}

interface StatusChange {
  readonly from: Status;
  readonly report: TargetReport;
}

function changesBetween(before: Report, after: Report): readonly StatusChange[] {
  const previous = new Map(
    targetsOf(changed(before.chains, after.chains)).map(({ target, status }) => [target.key, status]),
  );
  return targetsOf(changed(after.chains, before.chains)).flatMap((report) => {
    const from = previous.get(report.target.key);
    return from === undefined || from === report.status ? [] : [{ from, report }];
  });
}

/** A chain whose report is the same object, at the same position, did not change. */
function changed(chains: readonly ChainReport[], others: readonly ChainReport[]): readonly ChainReport[] {
  return chains.filter((chain, index) => chain !== others[index]);
}

function targetsOf(chains: readonly ChainReport[]): readonly TargetReport[] {
  return chains.flatMap((chain) => chain.targets);
}
