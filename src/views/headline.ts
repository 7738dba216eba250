import { targetKey } from "./filter-status.ts";
import { formatCount, formatNumber } from "./format-count.ts";
import { formatDuration } from "./format-duration.ts";
import { incidentDetail } from "./incident-words.ts";
import type { IncidentJson, StatusJson, TargetJson } from "./status-json.ts";
import { needsSomebody, STATUS_WORDS, type Tone } from "./status-words.ts";
import type { Trouble } from "./triage.ts";

const TELLING_SECONDS = 60;

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

/** `multichain is fresh`, or that nothing is. */
export function describeFresh({ fresh, others }: Trouble): string {
  const names = [...new Set(fresh.map(describeVariant))];
  if (names.length === 0) {
    return others === 0 ? "it has no other variant" : "no other variant is fresh";
  }
  return `${names.join(" and ")} ${names.length === 1 ? "is" : "are"} fresh`;
}

/** `subgraph`, with the tier only where it is not the usual one. */
export function describeVariant({ variant, tier }: TargetJson): string {
  return tier === "production" ? variant : `${variant} (${tier})`;
}

/** `stalled, 41 min behind`; a target that is merely late is told by its lag alone. */
export function describeState(target: TargetJson): string {
  const { phrase } = STATUS_WORDS[target.status];
  const lagMs = tellingLagMs(target);
  if (lagMs === null) {
    return phrase;
  }
  const lag = `${formatDuration(lagMs)} behind`;
  return target.status === "lagging" || target.status === "ok" ? lag : `${phrase}, ${lag}`;
}

/** The lag if it says anything: a target that is not ok for another reason need not be told to be 2 s behind. */
export function tellingLagMs({ status, lag_seconds }: TargetJson): number | null {
  const isTelling = status === "ok" || status === "lagging" || (lag_seconds ?? 0) >= TELLING_SECONDS;
  return isTelling && lag_seconds !== null ? lag_seconds * 1000 : null;
}

function isLoud(pair: Trouble["pair"], { status }: TargetJson): boolean {
  return pair === "lost" && status !== "chain_halted";
}

/** One shared cause is told before any single target. */
function because(json: StatusJson, worst: Trouble, others: readonly Trouble[]): string {
  const shared = widestCause(json.incidents, [worst, ...others]);
  if (shared !== null) {
    return `, ${formatNumber(shared.count)} of them for one cause: ${incidentDetail(shared.incident)}`;
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
