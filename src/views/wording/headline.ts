import { variantName } from "../../core/model/fleet.ts";
import type { Incident, Report, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { findFailover, incidentDetail } from "./incidents.ts";
import { parityTitle, urgentDifferences } from "./parity.ts";
import {
  describeAlternatives,
  describeState,
  needsAction,
  type TargetProblem,
  type Tone,
} from "./targets.ts";

/** The summary of a report in one sentence. */
export interface Headline {
  readonly tone: Tone;
  readonly sentence: string;
  /** How many targets need attention. */
  readonly urgent: number;
}

/**
 * Summarizes what matters most, leaving out what is in maintenance:
 * `2 of 140 targets need attention; worst: lockup subgraph on Base, 41 min behind; multichain is ok`.
 */
export function headline(report: Report, problems: readonly TargetProblem[]): Headline {
  const urgent = problems.filter(({ target }) => needsAction(target) && !target.maintenance);
  const network = report.incidents.find(({ scope }) => scope === "network");
  if (network !== undefined) {
    return { tone: "bad", sentence: sentenceCase(network.detail), urgent: urgent.length };
  }
  const [worst] = urgent;
  if (worst === undefined) {
    return different(report) ?? calm(report);
  }
  const verb = urgent.length === 1 ? "needs" : "need";
  const count = `${formatNumber(urgent.length)} of ${formatCount(report.targets.length, "target")} ${verb} attention`;
  const isDown = urgent.some(({ pair }) => pair === "down");
  return {
    tone: isDown ? "bad" : "warn",
    sentence: `${count}${describeCause(report, worst, urgent)}`,
    urgent: urgent.length,
  };
}

/** Every target is where it should be, but the data of some differ. */
function different(report: Report): Headline | null {
  const [first, ...others] = urgentDifferences(report);
  if (first === undefined) {
    return null;
  }
  const names = `${variantName(first)} and ${first.against} of ${parityTitle(first, report)}`;
  const more = others.length === 0 ? "" : ` and ${formatCount(others.length, "more pair")}`;
  return { tone: "warn", sentence: `Data differ: ${names}${more}`, urgent: others.length + 1 };
}

/** A shared cause and where to fail over to, rather than any single target. */
function describeCause(report: Report, worst: TargetProblem, urgent: readonly TargetProblem[]): string {
  const shared = widestIncident(report.incidents, urgent);
  if (shared !== null) {
    const failover = findFailover(shared.incident, urgent);
    const available = failover === null ? "" : `; ${failover.available}`;
    const count = shared.count >= urgent.length ? "all" : `${formatNumber(shared.count)} of them`;
    return `, ${count} with one cause: ${incidentDetail(shared.incident)}${available}`;
  }
  // The chain is left out where there is only one.
  const where = report.chains.length === 1 ? "" : ` on ${worst.chain.name}`;
  const name = `${worst.target.protocol} ${variantName(worst.target)}${where}`;
  const prefix = urgent.length === 1 ? ":" : "; worst:";
  return `${prefix} ${name}, ${describeState(worst.target)}; ${describeAlternatives(worst)}`;
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

function calm({ targets }: Report): Headline {
  const total = formatCount(targets.length, "target");
  const count = (status: TargetReport["status"]) => targets.filter((one) => one.status === status).length;
  const [ok, syncing, unknown] = [count("ok"), count("syncing"), count("unknown")];
  if (targets.length === 0) {
    return { tone: "idle", sentence: "No targets are configured", urgent: 0 };
  }
  if (unknown === targets.length) {
    return { tone: "idle", sentence: `No data yet: none of ${total} has answered`, urgent: 0 };
  }
  if (ok === targets.length) {
    return { tone: "ok", sentence: allOk(targets, total), urgent: 0 };
  }
  const planned = targets.filter((target) => target.maintenance && needsAction(target)).length;
  const rest = [
    planned > 0 ? `${formatNumber(planned)} in maintenance` : [],
    syncing > 0 ? `${formatNumber(syncing)} syncing` : [],
    unknown > 0 ? `${formatNumber(unknown)} without data` : [],
  ].flat();
  const sentence = `No action needed: ${formatNumber(ok)} of ${total} ok, ${rest.join(", ")}`;
  return { tone: "busy", sentence, urgent: 0 };
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

function sentenceCase(text: string): string {
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
