import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import type { IncidentJson, StatusJson, TargetJson } from "../api/api-schema.ts";
import { targetKey } from "../api/filter-status.ts";
import { findFailover } from "./failover.ts";
import { incidentDetail } from "./incident.ts";
import { needsSomebody, type Tone } from "./status.ts";
import { describeFresh, describeState, describeVariant } from "./target.ts";
import type { Trouble } from "./triage.ts";

/** The one sentence of truth, and how loud it is. */
export interface Headline {
  readonly tone: Tone;
  readonly sentence: string;
  /** How many targets somebody should look at. */
  readonly needed: number;
}

/** Says in one sentence what matters most, and nothing of what is in maintenance: `2 of 140 targets need you: lockup on Base, subgraph, 41 min behind; …`. */
export function headline(json: StatusJson, troubles: readonly Trouble[]): Headline {
  const urgent = troubles.filter(({ target }) => needsSomebody(target.status) && !target.maintenance);
  const network = json.incidents.find(({ scope }) => scope === "network");
  if (network !== undefined) {
    return { tone: "bad", sentence: sentenceCase(network.detail), needed: urgent.length };
  }
  const [worst, ...others] = urgent;
  if (worst === undefined) {
    return calm(json);
  }
  const tone = urgent.some(({ pair, target }) => isLoud(pair, target)) ? "bad" : "warn";
  const verb = urgent.length === 1 ? "needs" : "need";
  const count = `${formatNumber(urgent.length)} of ${formatCount(json.targets.length, "target")} ${verb} you`;
  return { tone, sentence: `${count}${because(json, worst, others)}`, needed: urgent.length };
}

/** `lockup on Base, subgraph, 41 min behind`. */
function describeTrouble({ target, chain }: Trouble): string {
  return `${target.protocol} on ${chain.name}, ${describeVariant(target)}, ${describeState(target)}`;
}

function isLoud(pair: Trouble["pair"], { status }: TargetJson): boolean {
  return pair === "lost" && status !== "chain_halted";
}

/** One shared cause is told before any single target, and where to go from it. */
function because(json: StatusJson, worst: Trouble, others: readonly Trouble[]): string {
  const shared = widestCause(json.incidents, [worst, ...others]);
  if (shared !== null) {
    const wayOut = findFailover(shared.incident, [worst, ...others]);
    const fresh = wayOut === null ? "" : `; ${wayOut.fresh}`;
    const count = shared.count > others.length ? "all" : `${formatNumber(shared.count)} of them`;
    return `, ${count} for one cause: ${incidentDetail(shared.incident)}${fresh}`;
  }
  const more = others.length === 0 ? "" : `; ${formatNumber(others.length)} more below`;
  return `: ${describeTrouble(worst)}; ${describeFresh(worst)}${more}`;
}

/** The incident that explains most of the troubles, if it explains two or more. */
function widestCause(incidents: readonly IncidentJson[], troubles: readonly Trouble[]) {
  const keys = new Set(troubles.map(({ target }) => targetKey(target)));
  const counted = incidents.map((incident) => ({
    incident,
    count: incident.targets.filter((key) => keys.has(key)).length,
  }));
  return counted.filter(({ count }) => count > 1).sort((a, b) => b.count - a.count)[0] ?? null;
}

function calm({ targets }: StatusJson): Headline {
  const total = formatCount(targets.length, "target");
  const count = (status: TargetJson["status"]) => targets.filter((target) => target.status === status).length;
  if (targets.length === 0) {
    return { tone: "idle", sentence: "No target is watched", needed: 0 };
  }
  if (count("unknown") === targets.length) {
    return { tone: "idle", sentence: `No evidence yet: none of ${total} has answered`, needed: 0 };
  }
  if (count("ok") === targets.length) {
    return { tone: "ok", sentence: allOk(targets, total), needed: 0 };
  }
  const planned = targets.filter(({ status, maintenance }) => maintenance && needsSomebody(status)).length;
  const rest = [
    planned > 0 ? `${formatNumber(planned)} in maintenance` : [],
    count("syncing") > 0 ? `${formatNumber(count("syncing"))} syncing` : [],
    count("unknown") > 0 ? `${formatNumber(count("unknown"))} without evidence yet` : [],
  ].flat();
  const sentence = `Nothing needs you: ${formatNumber(count("ok"))} of ${total} ok, ${rest.join(", ")}`;
  return { tone: "busy", sentence, needed: 0 };
}

function allOk(targets: readonly TargetJson[], total: string): string {
  const lags = targets.flatMap(({ lag_seconds }) => lag_seconds ?? []);
  const all = targets.length === 1 ? "The only target is ok" : `All ${total} are ok`;
  if (lags.length === 0) {
    return all;
  }
  const most = formatDuration(Math.max(...lags) * 1000);
  return most === formatDuration(0) ? `${all}, level with the reference` : `${all}, at most ${most} behind`;
}

function sentenceCase(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
