import { variantName } from "../../core/model/fleet.ts";
import type { Incident, Report, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { findFailover, incidentEffect, incidentSubject } from "./incidents.ts";
import { parityTitle, urgentDifferences } from "./parity.ts";
import {
  describeAlternatives,
  needsAction,
  notableLagMs,
  statusWords,
  type TargetProblem,
  type Tone,
} from "./targets.ts";

/** The summary of a report. */
export interface Headline {
  readonly tone: Tone;
  /** About twelve words, to be read in two seconds. */
  readonly title: string;
  /** The extent and the failover; null if the title says everything. */
  readonly detail: string | null;
  /** How many targets need attention. */
  readonly urgent: number;
}

/**
 * Summarizes what matters most, leaving out what is in maintenance: `2 of 140 targets need attention; worst: lockup subgraph on
 * Base, stalled`, with the detail `41 min behind; multichain is ok`.
 */
export function headline(report: Report, problems: readonly TargetProblem[]): Headline {
  const urgent = problems.filter(({ target }) => needsAction(target) && !target.maintenance);
  const network = report.incidents.find(({ scope }) => scope === "network");
  if (network !== undefined) {
    const [title = "", detail = null] = network.detail.split(": ");
    return { tone: "bad", title: sentenceCase(title), detail, urgent: urgent.length };
  }
  const [worst] = urgent;
  if (worst === undefined) {
    return different(report) ?? calm(report);
  }
  const verb = urgent.length === 1 ? "needs" : "need";
  const count = `${formatNumber(urgent.length)} of ${formatCount(report.targets.length, "target")} ${verb} attention`;
  const isDown = urgent.some(({ pair }) => pair === "down");
  return {
    ...describeCause(count, report, worst, urgent),
    tone: isDown ? "bad" : "warn",
    urgent: urgent.length,
  };
}

/** Every target is ok, but data differ between variants. */
function different(report: Report): Headline | null {
  const [first, ...others] = urgentDifferences(report);
  if (first === undefined) {
    return null;
  }
  const names = `${variantName(first)} and ${first.against} of ${parityTitle(first, report)}`;
  const more = others.length === 0 ? "" : ` and ${formatCount(others.length, "more pair")}`;
  return { tone: "warn", title: `Data differ: ${names}${more}`, detail: null, urgent: others.length + 1 };
}

/** A shared cause and the failover, instead of a single target. */
function describeCause(
  count: string,
  report: Report,
  worst: TargetProblem,
  urgent: readonly TargetProblem[],
): Pick<Headline, "title" | "detail"> {
  const shared = widestIncident(report.incidents, urgent);
  if (shared !== null) {
    const { incident } = shared;
    const failover = findFailover(incident, urgent);
    const available = failover === null ? "" : `; ${failover.available}`;
    const which = shared.count >= urgent.length ? "all" : `${formatNumber(shared.count)} of them`;
    return {
      title: `${count}, ${which} because of ${incidentSubject(incident)}`,
      detail: `${incidentEffect(incident)}${available}`,
    };
  }
  // The chain is left out where there is only one.
  const where = report.chains.length === 1 ? "" : ` on ${worst.chain.name}`;
  const name = `${worst.target.protocol} ${variantName(worst.target)}${where}`;
  const prefix = urgent.length === 1 ? ":" : "; worst:";
  const lagMs = notableLagMs(worst.target);
  const lag = lagMs === null ? "" : `${formatDuration(lagMs)} behind; `;
  return {
    title: `${count}${prefix} ${name}, ${statusWords(worst.target.status).phrase}`,
    detail: `${lag}${describeAlternatives(worst)}`,
  };
}

/** The incident that explains most of the problems, if it explains two or more. */
function widestIncident(incidents: readonly Incident[], problems: readonly TargetProblem[]) {
  const keys = new Set(problems.map(({ target }) => target.key));
  const counted = incidents.map((incident) => ({
    incident,
    count: incident.targets.filter((key) => keys.has(key)).length,
  }));
  return counted.filter(({ count }) => count > 1).sort((a, b) => b.count - a.count)[0] ?? null;
}

const QUIET = { detail: null, urgent: 0 } as const;

function calm({ targets }: Report): Headline {
  const total = formatCount(targets.length, "target");
  const count = (status: TargetReport["status"]) => targets.filter((one) => one.status === status).length;
  const [ok, syncing, unknown] = [count("ok"), count("syncing"), count("unknown")];
  if (targets.length === 0) {
    return { ...QUIET, tone: "idle", title: "No targets are configured" };
  }
  if (unknown === targets.length) {
    return { ...QUIET, tone: "idle", title: `No data yet: none of ${total} has answered` };
  }
  if (ok === targets.length) {
    return { ...QUIET, tone: "ok", title: allOk(targets, total) };
  }
  const planned = targets.filter((target) => target.maintenance && needsAction(target)).length;
  const rest = [
    planned > 0 ? `${formatNumber(planned)} in maintenance` : [],
    syncing > 0 ? `${formatNumber(syncing)} syncing` : [],
    unknown > 0 ? `${formatNumber(unknown)} without data` : [],
  ].flat();
  const title = `No action needed: ${formatNumber(ok)} of ${total} ok, ${rest.join(", ")}`;
  return { ...QUIET, tone: "busy", title };
}

function allOk(targets: readonly TargetReport[], total: string): string {
  const lags = targets.flatMap(({ lag_seconds: lag }) => lag ?? []);
  const all = targets.length === 1 ? "The only target is ok" : `All ${total} are ok`;
  if (lags.length === 0) {
    return all;
  }
  const most = formatDuration(Math.max(...lags) * 1000);
  return most === formatDuration(0) ? `${all}, at the head` : `${all}, at most ${most} behind`;
}

/** A text with its first letter in upper case. */
export function sentenceCase(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Which replica leads, in a sentence; null where there is only one process. */
export function describeReplica({ replica }: Pick<Report, "replica">): string | null {
  if (replica === null) {
    return null;
  }
  const { role, name, age_seconds: age } = replica;
  const leader = replica.leader ?? "No replica";
  switch (role) {
    case "leader":
      return `${name} leads.`;
    case "cut_off":
      return `Store unreachable: ${name} was the last leader and keeps polling.`;
    default:
      return age === null
        ? `${leader} leads; ${name} has no report of a leader yet.`
        : `${leader} leads; ${name} is on standby, with a report from ${formatDuration(age * 1000)} ago.`;
  }
}
