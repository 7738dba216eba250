import type { Logger } from "pino";
import type { Incident, Report, Status, TargetReport } from "../core/report.ts";

/**
 * Says what changed from one report to the next: one line per change of status, one when an incident begins and one
 * when it ends. Repeats are for the metrics to count.
 */
export function logChanges(logger: Logger, before: Report, after: Report): void {
  logIncidents(logger, before.incidents, after.incidents);
  const wasExplained = explainedBy(before.incidents);
  const isExplained = explainedBy(after.incidents);
  const former = new Map(targetsOf(before).map((target) => [target.target.key, target.status]));
  for (const { target, status: to, reason, detail } of targetsOf(after)) {
    const { key } = target;
    const from = former.get(key);
    if (from === undefined || from === to) {
      continue;
    }
    // The incident's own line said that it fell ill, or well again, together with the others.
    const isSaid = isExplained.has(key) || (to === "ok" && wasExplained.has(key));
    logger[isSaid ? "debug" : levelOf(from, to)]({ target: key, from, to, reason, detail }, "Status changed");
  }
}

/** A target that comes up healthy at the start is no news. */
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

function incidentKey({ scope, subject }: Incident): string {
  return `${scope} ${subject}`;
}

function targetsOf(report: Report): readonly TargetReport[] {
  return report.chains.flatMap((chain) => chain.targets);
}
