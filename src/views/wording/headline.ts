import type { Incident, Report, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { findFailover } from "./failover.ts";
import { incidentDetail } from "./incident.ts";
import { parityTitle, urgentDifferences } from "./parity.ts";
import type { TargetProblem } from "./problems.ts";
import { needsAction, type Tone } from "./status-words.ts";
import { describeAlternatives, describeState, variantName } from "./target.ts";

/** The summary of a status in one sentence. */
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
export function headline(json: Report, problems: readonly TargetProblem[]): Headline {
  const urgent = problems.filter(({ target }) => needsAction(target.status) && !target.maintenance);
  const network = json.incidents.find(({ scope }) => scope === "network");
  if (network !== undefined) {
    return { tone: "bad", sentence: sentenceCase(network.detail), urgent: urgent.length };
  }
  const [worst, ...others] = urgent;
  if (worst === undefined) {
    return different(json) ?? calm(json);
  }
  const verb = urgent.length === 1 ? "needs" : "need";
  const count = `${formatNumber(urgent.length)} of ${formatCount(json.targets.length, "target")} ${verb} attention`;
  return {
    tone: urgent.some(isDown) ? "bad" : "warn",
    sentence: `${count}${describeCause(json, worst, others)}`,
    urgent: urgent.length,
  };
}

/** Every target is where it should be, but the data of some differ. */
function different(json: Report): Headline | null {
  const differences = urgentDifferences(json);
  const [first] = differences;
  if (first === undefined) {
    return null;
  }
  const names = `${variantName(first)} and ${first.against} of ${parityTitle(first, json)}`;
  const more = differences.length === 1 ? "" : ` and ${formatCount(differences.length - 1, "more pair")}`;
  return {
    tone: "warn",
    sentence: `Data differ: ${names}${more}`,
    urgent: differences.length,
  };
}

function isDown({ pair, target }: TargetProblem): boolean {
  return pair === "down" && target.status !== "chain_halted";
}

/** A shared cause and where to fail over to, rather than any single target. */
function describeCause(json: Report, worst: TargetProblem, others: readonly TargetProblem[]): string {
  const shared = widestIncident(json.incidents, [worst, ...others]);
  if (shared !== null) {
    const failover = findFailover(shared.incident, [worst, ...others]);
    const available = failover === null ? "" : `; ${failover.available}`;
    const count = shared.count > others.length ? "all" : `${formatNumber(shared.count)} of them`;
    return `, ${count} with one cause: ${incidentDetail(shared.incident)}${available}`;
  }
  const target = `${describeProblem(worst, json)}; ${describeAlternatives(worst)}`;
  return others.length === 0 ? `: ${target}` : `; worst: ${target}`;
}

/** `lockup subgraph on Base, 41 min behind`; the chain is left out where there is only one. */
function describeProblem({ target, chain }: TargetProblem, { chains }: Report): string {
  const where = chains.length === 1 ? "" : ` on ${chain.name}`;
  return `${target.protocol} ${variantName(target)}${where}, ${describeState(target)}`;
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
  const count = (status: TargetReport["status"]) =>
    targets.filter((target) => target.status === status).length;
  if (targets.length === 0) {
    return { tone: "idle", sentence: "No targets are configured", urgent: 0 };
  }
  if (count("unknown") === targets.length) {
    return { tone: "idle", sentence: `No data yet: none of ${total} has answered`, urgent: 0 };
  }
  if (count("ok") === targets.length) {
    return { tone: "ok", sentence: allOk(targets, total), urgent: 0 };
  }
  const planned = targets.filter(({ status, maintenance }) => maintenance && needsAction(status)).length;
  const rest = [
    planned > 0 ? `${formatNumber(planned)} in maintenance` : [],
    count("syncing") > 0 ? `${formatNumber(count("syncing"))} syncing` : [],
    count("unknown") > 0 ? `${formatNumber(count("unknown"))} without data` : [],
  ].flat();
  const sentence = `No action needed: ${formatNumber(count("ok"))} of ${total} ok, ${rest.join(", ")}`;
  return { tone: "busy", sentence, urgent: 0 };
}

function allOk(targets: readonly TargetReport[], total: string): string {
  const lags = targets.flatMap(({ lag_seconds }) => lag_seconds ?? []);
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
