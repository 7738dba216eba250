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

/** How a status is presented to people. */
export interface StatusWords {
  readonly tone: Tone;
  /** Conveys the same as the colour, for people who cannot see it. */
  readonly glyph: string;
  /** For a cell of the matrix: one word of at most seven letters. */
  readonly short: string;
  /** For a sentence, after a comma: `lockup subgraph on Base, …`. */
  readonly phrase: string;
}

const STATUS_WORDS: Readonly<Record<Status, StatusWords>> = {
  diverged: { tone: "bad", glyph: "✕", short: "forked", phrase: "on another chain or fork" },
  failed: { tone: "bad", glyph: "✕", short: "failed", phrase: "failed" },
  missing: { tone: "bad", glyph: "✕", short: "missing", phrase: "missing from the reply" },
  not_found: { tone: "bad", glyph: "✕", short: "absent", phrase: "not found" },
  rejected: { tone: "bad", glyph: "✕", short: "key", phrase: "key rejected" },
  unreachable: { tone: "bad", glyph: "✕", short: "down", phrase: "unreachable" },
  stalled: { tone: "bad", glyph: "✕", short: "stalled", phrase: "stalled" },
  lagging: { tone: "warn", glyph: "▲", short: "behind", phrase: "lagging" },
  throttled: { tone: "warn", glyph: "▲", short: "quota", phrase: "throttled" },
  chain_halted: { tone: "warn", glyph: "‖", short: "halted", phrase: "the chain is halted" },
  syncing: { tone: "busy", glyph: "↻", short: "syncing", phrase: "syncing" },
  unknown: { tone: "idle", glyph: "?", short: "no data", phrase: "no data" },
  ok: { tone: "ok", glyph: "✓", short: "ok", phrase: "ok" },
};

/** The words for a status; one of another version's daemon is presented as it is, and as a problem. */
export function statusWords(status: string): StatusWords {
  const known: Readonly<Record<string, StatusWords>> = STATUS_WORDS;
  return known[status] ?? { tone: "warn", glyph: "▲", short: status, phrase: status };
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
  const { alternatives, others } = problem;
  if (alternatives.length === 0) {
    return others === 0 ? "there is no other variant" : "no other variant is ok";
  }
  const targets = failoverTargets(problem);
  const only = targets.length === 0 ? "only " : "";
  const names = [...new Set((targets.length === 0 ? alternatives : targets).map(variantName))];
  return `${only}${new Intl.ListFormat("en-GB").format(names)} ${names.length === 1 ? "is" : "are"} ok`;
}
