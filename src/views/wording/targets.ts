import { type IndexerId, isProduction, variantName } from "../../core/model/fleet.ts";
import {
  type ChainSummary,
  type Report,
  type Status,
  statusRank,
  type TargetReport,
} from "../../core/model/report.ts";
import { formatDuration } from "../../core/model/text.ts";
import { type Pair, type PairState, pairState, pairsOf } from "../../core/report/pairs.ts";

/** The colour of a status or sentence. `busy`: in progress; `idle`: nothing is known. */
export type Tone = "ok" | "busy" | "idle" | "warn" | "bad";

/** Conveys the same as the colour, for people who cannot see it. */
export const GLYPHS: Readonly<Record<Tone, string>> = { ok: "✓", busy: "↻", idle: "?", warn: "▲", bad: "✕" };

/** The colour of each status, and one word of at most seven letters for a cell of the matrix. */
const STATUS_WORDS: Readonly<Record<Status, readonly [tone: Tone, short: string]>> = {
  diverged: ["bad", "forked"],
  failed: ["bad", "failed"],
  missing: ["bad", "missing"],
  not_found: ["bad", "absent"],
  rejected: ["bad", "key"],
  unreachable: ["bad", "down"],
  stalled: ["bad", "stalled"],
  lagging: ["warn", "behind"],
  throttled: ["warn", "quota"],
  chain_halted: ["warn", "halted"],
  syncing: ["busy", "syncing"],
  unknown: ["idle", "no data"],
  ok: ["ok", "ok"],
};

/** The words for a status; one of another version's daemon is presented as it is, and as a problem. */
export function statusWords(status: string): { readonly tone: Tone; readonly short: string } {
  const known: Readonly<Record<string, readonly [tone: Tone, short: string]>> = STATUS_WORDS;
  const [tone, short] = known[status] ?? ["warn", status];
  return { tone, short };
}

/** Whether a person should act: not while a target is syncing or nothing is known. */
export function needsAction({ status }: Pick<TargetReport, "status">): boolean {
  const { tone } = statusWords(status);
  return tone === "bad" || tone === "warn";
}

/** ` (timeout)`: the reason of a failure, unless the status or the detail names it already. */
export function reasonSuffix({ status, reason, detail }: TargetReport): string {
  return reason === null || reason === status || detail.includes(reason) ? "" : ` (${reason})`;
}

/** `lockup subgraph (production)`. */
export function indexerName({ protocol, variant, tier }: IndexerId): string {
  return `${protocol} ${variant} (${tier})`;
}

/** What the key of a target or an indexer consists of. */
export function idOfKey(key: string): IndexerId {
  const [protocol = "", variant = "", tier = ""] = key.split("/");
  return { protocol, variant, tier };
}

/** A shorter lag of a target that is neither ok nor lagging is not worth mentioning. */
const NOTABLE_SECONDS = 60;

/** The lag if it is known and worth mentioning, else null. */
export function notableLagMs({ status, lag_seconds: lag }: TargetReport): number | null {
  const isNotable = status === "ok" || status === "lagging" || (lag ?? 0) >= NOTABLE_SECONDS;
  return isNotable && lag !== null ? lag * 1000 : null;
}

/** `41 min behind`, where that is worth mentioning. */
export function describeLag(target: TargetReport): string | null {
  const lagMs = notableLagMs(target);
  return lagMs === null ? null : `${formatDuration(lagMs)} behind`;
}

/** A target that is not ok, and what could replace it. */
export interface TargetProblem {
  readonly target: TargetReport;
  readonly chain: ChainSummary;
  readonly pair: PairState;
  /** The other targets of its protocol and chain that are ok, freshest first. */
  readonly alternatives: readonly TargetReport[];
}

/**
 * Every target of `selected` that is not ok, worst first: mainnets before testnets, pairs that are down first, then by
 * status and lag. Alternatives are looked for among all targets.
 */
export function findProblems(
  report: Report,
  selected: readonly TargetReport[] = report.targets,
): readonly TargetProblem[] {
  const keys = new Set(selected.map(({ key }) => key));
  return pairsOf(report, report.targets)
    .flatMap(problemsOf)
    .filter(({ target }) => keys.has(target.key))
    .sort(byUrgency);
}

function problemsOf({ chain, targets }: Pair): readonly TargetProblem[] {
  const pair = pairState({ chain, targets });
  const alternatives = targets
    .filter(({ status }) => status === "ok")
    .sort((a, b) => (a.lag_seconds ?? 0) - (b.lag_seconds ?? 0));
  return targets
    .filter(({ status }) => status !== "ok")
    .map((target) => ({ target, chain, pair, alternatives }));
}

function byUrgency(a: TargetProblem, b: TargetProblem): number {
  return (
    Number(a.chain.testnet) - Number(b.chain.testnet) ||
    Number(needsAction(b.target)) - Number(needsAction(a.target)) ||
    Number(b.pair === "down") - Number(a.pair === "down") ||
    statusRank(b.target.status) - statusRank(a.target.status) ||
    (b.target.lag_seconds ?? 0) - (a.target.lag_seconds ?? 0)
  );
}

/** The alternatives that the users of a target can be sent to: users of production never to another tier. */
export function failoverTargets({ target, alternatives }: TargetProblem): readonly TargetReport[] {
  return isProduction(target) ? alternatives.filter(isProduction) : alternatives;
}

/** `multichain is ok`, or that no other variant is; `only subgraph (testing) is ok` where users cannot be sent to it. */
export function describeAlternatives(problem: TargetProblem): string {
  const targets = failoverTargets(problem);
  const names = [...new Set((targets.length === 0 ? problem.alternatives : targets).map(variantName))];
  if (names.length === 0) {
    return "no other variant is ok";
  }
  const only = targets.length === 0 ? "only " : "";
  return `${only}${new Intl.ListFormat("en-GB").format(names)} ${names.length === 1 ? "is" : "are"} ok`;
}
