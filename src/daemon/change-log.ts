import type { Logger } from "pino";
import type { Event } from "../core/events/event.ts";
import { type Incident, incidentKey, type Report } from "../core/model/report.ts";

/** Logs what happened between two reports. */
export function logEvents(logger: Logger, events: readonly Event[], before: Report, after: Report): void {
  const of = (kind: Event["kind"]) => events.filter((event) => event.kind === kind);
  for (const { subject, to, detail, target_count: targets } of of("incident")) {
    logIncident(logger, { to, detail, targets, ...partsOf(subject) }, before.incidents);
  }
  for (const { subject, from, to, detail } of of("parity")) {
    const [probe, target, against] = subject.split(" ");
    const fields = { probe, target, against, from, to, detail };
    logger[to === "different" ? "warn" : "info"](fields, "Parity changed");
  }
  logStatuses(logger, of("status"), before, after);
}

function logStatuses(logger: Logger, events: readonly Event[], before: Report, after: Report): void {
  if (events.length === 0) {
    return;
  }
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

function logIncident(
  logger: Logger,
  {
    to,
    ...fields
  }: Pick<Incident, "scope" | "subject"> & { readonly to: string; readonly [name: string]: unknown },
  before: readonly Incident[],
): void {
  if (to === "began") {
    logger.warn(fields, "Incident began");
  } else {
    const { scope, subject } = fields;
    const since = before.find((incident) => incidentKey(incident) === incidentKey(fields))?.since;
    logger.info({ scope, subject, since }, "Incident ended");
  }
}

function partsOf(incident: string): Pick<Incident, "scope" | "subject"> {
  const [scope = "", ...subject] = incident.split(" ");
  return { scope: scope as Incident["scope"], subject: subject.join(" ") };
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
