import type { Logger } from "pino";
import {
  type ChainReport,
  type Incident,
  incidentKey,
  type Report,
  type Status,
  type TargetReport,
} from "../core/model/report.ts";
import { looksAlike } from "../core/report/looks-alike.ts";

/**
 * Says what changed from one report to the next: one line per change of status, one when an incident begins and one
 * when it ends. Repeats are for the metrics to count.
 */
export function logChanges(logger: Logger, before: Report, after: Report): void {
  logIncidents(logger, before.incidents, after.incidents);
  const turns = turnsBetween(before, after);
  if (turns.length === 0) {
    return;
  }
  const wasExplained = explainedBy(before.incidents);
  const isExplained = explainedBy(after.incidents);
  for (const { from, report } of turns) {
    const { target, status: to, reason, detail } = report;
    const { key } = target;
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

interface Turn {
  readonly from: Status;
  readonly report: TargetReport;
}

/** Nearly always nothing turned: then nothing is made. */
function turnsBetween(before: Report, after: Report): readonly Turn[] {
  const former = new Map(
    targetsOf(turned(before.chains, after.chains)).map(({ target, status }) => [target.key, status]),
  );
  return targetsOf(turned(after.chains, before.chains)).flatMap((report) => {
    const from = former.get(report.target.key);
    return from === undefined || from === report.status ? [] : [{ from, report }];
  });
}

/** The chains that do not look alike in both, or do not stand in the same place. */
function turned(chains: readonly ChainReport[], others: readonly ChainReport[]): readonly ChainReport[] {
  return chains.filter((chain, index) => {
    const other = others[index];
    return other === undefined || !looksAlike(chain, other);
  });
}

function targetsOf(chains: readonly ChainReport[]): readonly TargetReport[] {
  return chains.flatMap((chain) => chain.targets);
}
