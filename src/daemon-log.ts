import type { Logger } from "pino";
import type { Incident, Report, Status, TargetReport } from "./core/report.ts";

/**
 * Says what changed from one report to the next: one line per change of status, one when an incident begins and one
 * when it ends. Repeats are for the metrics to count.
 */
export function logChanges(logger: Logger, before: Report, after: Report): void {
  logIncidents(logger, before.incidents, after.incidents);
  const explained = new Set(after.incidents.flatMap((incident) => incident.targets));
  const former = new Map(targetsOf(before).map((target) => [target.target.key, target.status]));
  for (const target of targetsOf(after)) {
    const from = former.get(target.target.key);
    if (from !== undefined && from !== target.status) {
      const level = levelOf({ from, to: target.status, isExplained: explained.has(target.target.key) });
      logger[level](
        { target: target.target.key, from, to: target.status, reason: target.reason, detail: target.detail },
        "Status changed",
      );
    }
  }
}

/** What one incident explains was said once already; a target that comes up healthy at the start is no news. */
function levelOf(change: {
  readonly from: Status;
  readonly to: Status;
  readonly isExplained: boolean;
}): "debug" | "info" | "warn" {
  if (change.isExplained || (change.from === "unknown" && change.to === "ok")) {
    return "debug";
  }
  return change.to === "ok" || change.to === "unknown" || change.to === "syncing" ? "info" : "warn";
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
