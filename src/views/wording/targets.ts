import { type IndexerId, isProduction, servingTargets } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import type { ChainSummary, Report, Status, TargetReport } from "../../core/model/report.ts";
import { formatDuration } from "../../core/model/text.ts";

/** The colour of a status or sentence. `busy`: in progress; `idle`: nothing is known. */
export type Tone = "ok" | "busy" | "idle" | "warn" | "bad";

/** How a status is presented to people. */
export interface StatusWords {
  readonly tone: Tone;
  /** Conveys the same as the colour, for people who cannot see it. */
  readonly glyph: string;
  /** For a cell of the matrix: one word of at most seven letters. */
  readonly short: string;
  /** For a sentence, after a comma: `lockup subgraph on Base, …`. */
  readonly phrase: string;
  /** The lower, the sooner a person should look at it. */
  readonly severity: number;
}

const STATUS_WORDS: Readonly<Record<Status, StatusWords>> = {
  diverged: { tone: "bad", glyph: "✕", short: "forked", phrase: "on another chain or fork", severity: 0 },
  failed: { tone: "bad", glyph: "✕", short: "failed", phrase: "failed", severity: 1 },
  missing: { tone: "bad", glyph: "✕", short: "missing", phrase: "missing from the reply", severity: 2 },
  not_found: { tone: "bad", glyph: "✕", short: "absent", phrase: "not found", severity: 3 },
  rejected: { tone: "bad", glyph: "✕", short: "key", phrase: "key rejected", severity: 4 },
  unreachable: { tone: "bad", glyph: "✕", short: "down", phrase: "unreachable", severity: 5 },
  stalled: { tone: "bad", glyph: "✕", short: "stalled", phrase: "stalled", severity: 6 },
  lagging: { tone: "warn", glyph: "▲", short: "behind", phrase: "lagging", severity: 7 },
  throttled: { tone: "warn", glyph: "▲", short: "quota", phrase: "throttled", severity: 8 },
  chain_halted: { tone: "warn", glyph: "‖", short: "halted", phrase: "the chain is halted", severity: 9 },
  syncing: { tone: "busy", glyph: "↻", short: "syncing", phrase: "syncing", severity: 10 },
  unknown: { tone: "idle", glyph: "?", short: "no data", phrase: "no data", severity: 11 },
  ok: { tone: "ok", glyph: "✓", short: "ok", phrase: "ok", severity: 12 },
};

/** The words for a status; one of another version's daemon is presented as it is, and as a problem. */
export function statusWords(status: string): StatusWords {
  const known: Readonly<Record<string, StatusWords>> = STATUS_WORDS;
  return known[status] ?? { tone: "warn", glyph: "▲", short: status, phrase: status, severity: 7 };
}

/** Whether a person should act: not while a target is syncing or nothing is known. */
export function needsAction({ status }: Pick<TargetReport, "status">): boolean {
  const { tone } = statusWords(status);
  return tone === "bad" || tone === "warn";
}

/** The glyph beside a sentence of each tone. */
export const TONE_GLYPHS: Readonly<Record<Tone, string>> = {
  ok: STATUS_WORDS.ok.glyph,
  busy: STATUS_WORDS.syncing.glyph,
  idle: STATUS_WORDS.unknown.glyph,
  warn: STATUS_WORDS.lagging.glyph,
  bad: STATUS_WORDS.failed.glyph,
};

/** ` (timeout)`: the reason of a failure, unless the status or the detail names it already. */
export function reasonSuffix({
  status,
  reason,
  detail,
}: Pick<TargetReport, "status" | "reason" | "detail">): string {
  return reason === null || reason === status || detail.includes(reason) ? "" : ` (${reason})`;
}

/** `subgraph`, or `subgraph (testing)`: the tier is named only if it is not production. */
export function variantName(target: Pick<IndexerId, "variant" | "tier">): string {
  return isProduction(target) ? target.variant : `${target.variant} (${target.tier})`;
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

/** `stalled, 41 min behind`; of a target that is only lagging, its lag. */
export function describeState(target: TargetReport): string {
  const { phrase } = statusWords(target.status);
  const lagMs = notableLagMs(target);
  if (lagMs === null) {
    return phrase;
  }
  const lag = `${formatDuration(lagMs)} behind`;
  return target.status === "lagging" || target.status === "ok" ? lag : `${phrase}, ${lag}`;
}

/**
 * How well a protocol is served on a chain. Only the targets that serve users keep it up.
 * `ok`: every target is ok · `degraded`: at least one is · `behind`: none is ok, but one is lagging, syncing or throttled
 * and under the critical threshold · `unknown`: nothing is known of any · `down`: none is usable.
 */
export type PairState = "ok" | "degraded" | "behind" | "unknown" | "down";

/** A target that is not ok, and what could replace it. */
export interface TargetProblem {
  readonly target: TargetReport;
  readonly chain: ChainSummary;
  readonly pair: PairState;
  /** How many other targets the protocol has on that chain. */
  readonly others: number;
  /** Those of them that are ok, freshest first. */
  readonly alternatives: readonly TargetReport[];
}

/** The targets of one protocol on one chain, which can replace one another. */
export interface Pair {
  readonly chain: ChainSummary;
  readonly targets: readonly TargetReport[];
}

/** Groups targets of a report. */
export function pairsOf(
  { chains }: Pick<Report, "chains">,
  targets: readonly TargetReport[],
): readonly Pair[] {
  const bySlug = new Map(chains.map((chain) => [chain.slug, chain]));
  return [...groupBy(targets, ({ protocol, chain }) => `${protocol}/${chain}`).values()].flatMap((of) => {
    const chain = bySlug.get(of[0]?.chain ?? "");
    return chain === undefined ? [] : [{ chain, targets: of }];
  });
}

/** The state of one pair, or of those of its targets that were selected. */
export function pairState({ chain, targets }: Pair): PairState {
  if (targets.every(({ status }) => status === "ok")) {
    return "ok";
  }
  const serving = servingTargets(targets);
  if (serving.some(({ status }) => status === "ok")) {
    return "degraded";
  }
  if (serving.some((target) => isOnlyBehind(target, chain.thresholds.critical_seconds))) {
    return "behind";
  }
  return serving.every(({ status }) => status === "unknown") ? "unknown" : "down";
}

/** An unknown lag is not under any limit. */
function isOnlyBehind({ status, lag_seconds: lag }: TargetReport, criticalSeconds: number): boolean {
  const mayCatchUp = status === "lagging" || status === "syncing" || status === "throttled";
  return mayCatchUp && lag !== null && lag < criticalSeconds;
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
    .map((target) => ({ target, chain, pair, others: targets.length - 1, alternatives }));
}

function byUrgency(a: TargetProblem, b: TargetProblem): number {
  return (
    Number(a.chain.testnet) - Number(b.chain.testnet) ||
    Number(needsAction(b.target)) - Number(needsAction(a.target)) ||
    Number(b.pair === "down") - Number(a.pair === "down") ||
    statusWords(a.target.status).severity - statusWords(b.target.status).severity ||
    (b.target.lag_seconds ?? 0) - (a.target.lag_seconds ?? 0)
  );
}

/** The alternatives that the users of a target can be sent to: users of production never to another tier. */
export function failoverTargets({ target, alternatives }: TargetProblem): readonly TargetReport[] {
  return isProduction(target) ? alternatives.filter(isProduction) : alternatives;
}

/** `multichain is ok`, or that no other variant is; `only subgraph (testing) is ok` where users cannot be sent to it. */
export function describeAlternatives(problem: TargetProblem): string {
  const { alternatives, others } = problem;
  if (alternatives.length === 0) {
    return others === 0 ? "there is no other variant" : "no other variant is ok";
  }
  const targets = failoverTargets(problem);
  const only = targets.length === 0 ? "only " : "";
  const names = [...new Set((targets.length === 0 ? alternatives : targets).map(variantName))];
  return `${only}${names.join(" and ")} ${names.length === 1 ? "is" : "are"} ok`;
}
