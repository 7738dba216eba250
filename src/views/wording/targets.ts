import { endedText } from "../../core/model/end.ts";
import { type IndexerId, isProduction, variantName } from "../../core/model/fleet.ts";
import type { Limit } from "../../core/model/limit.ts";
import type { ChainSummary, Report, Severity, TargetReport } from "../../core/model/report.ts";
import { statusRank } from "../../core/model/statuses.ts";
import { formatAgo, formatClock, formatCount, formatDuration, formatList } from "../../core/model/text.ts";
import type { PairState } from "../../core/report/pairs.ts";
import { isAtLeast, type Judgement, judgeReport, needsAction } from "../../core/report/severity.ts";

/** The colour of a status or sentence. `busy`: in progress; `idle`: nothing is known. */
export type Tone = "ok" | "busy" | "idle" | "warn" | "bad";

/** Each glyph means the same as its colour, for readers that cannot see colours. White text is readable on each colour. */
export const TONES: Readonly<Record<Tone, { readonly glyph: string; readonly colour: string }>> = {
  ok: { glyph: "✓", colour: "#14713f" },
  busy: { glyph: "↻", colour: "#2a62b8" },
  idle: { glyph: "?", colour: "#5d615b" },
  warn: { glyph: "▲", colour: "#8a5a00" },
  bad: { glyph: "✕", colour: "#b4231d" },
};

/** The colour of each severity. */
export const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = {
  ok: "ok",
  calm: "busy",
  unknown: "idle",
  warning: "warn",
  critical: "bad",
};

/** The state of a pair for its users, and its colour. */
export const PAIR_WORDS: Readonly<Record<PairState, readonly [word: string, tone: Tone]>> = {
  ok: ["operational", "ok"],
  degraded: ["degraded", "warn"],
  down: ["down", "bad"],
  unknown: ["unknown", "idle"],
};

/** `lockup subgraph (production)`. */
export function indexerName({ protocol, variant, tier }: IndexerId): string {
  return `${protocol} ${variant} (${tier})`;
}

/** The parts of the key of a target or an indexer. */
export function idOfKey(key: string): IndexerId {
  const [protocol = "", variant = "", tier = ""] = key.split("/");
  return { protocol, variant, tier };
}

/**
 * The status; `ok, in doubt` if the target is `ok`, but the sources of its chain contradict each other, or its data differ from
 * those of another variant.
 */
export function statusWords({ status }: Pick<TargetReport, "status">, severity: Severity): string {
  return status === "ok" && needsAction(severity) ? "ok, in doubt" : status;
}

/** A shorter lag is only mentioned if the status is ok or lagging. */
const NOTABLE_SECONDS = 60;

/** The lag if it is known and worth mentioning, else null. While a change of status is unconfirmed, lag and status do not match. */
export function notableLagMs({ status, lag_seconds: lag, unconfirmed }: TargetReport): number | null {
  const isSettled = unconfirmed === null;
  const isNotable = isSettled && (status === "ok" || status === "lagging" || (lag ?? 0) >= NOTABLE_SECONDS);
  return isNotable && lag !== null ? lag * 1000 : null;
}

/** Whether an `ok` target is a minute or more behind, for example because it has just stopped. */
export function isLate({ status, lag_seconds: lag }: TargetReport): boolean {
  return status === "ok" && (lag ?? 0) >= NOTABLE_SECONDS;
}

/**
 * How far a target is behind or, if its lag is not known, how long ago it advanced. Takes `unknown`, the words for a lag that is
 * not known, and `head`, the words for the block to which the lag is measured. Returns `lag`, for the comparison with a limit,
 * and `text`, in words.
 */
export function latenessOf(
  { ended, lag_blocks: blocks, lag_seconds: lag, last_advance: advance }: TargetReport,
  nowMs: number,
  unknown: string,
  head: string,
): { readonly lag: Limit; readonly text: string } {
  if (ended !== null && lag === null && blocks === null) {
    return { lag: { ms: 0, blocks: 0 }, text: endedText(ended) };
  }
  const advancedMs = advance === null ? Number.NEGATIVE_INFINITY : Date.parse(advance);
  const ms = lag === null ? nowMs - advancedMs : lag * 1000;
  const last = advance === null ? "never seen to advance" : `last advanced ${formatAgo(advancedMs, nowMs)}`;
  const behind = blocks === null ? unknown : `${formatCount(blocks, "block")} behind the ${head}`;
  const text = lag === null ? `${behind}; ${last}` : `${formatDuration(ms)} behind the ${head}`;
  return { lag: { ms, blocks }, text };
}

/** `in maintenance until 05:00:00 UTC`; null outside of a maintenance window. `maintenance` is also true after the end of a target. */
export function describeMaintenance(
  {
    ended,
    maintenance,
    maintenance_until: until,
  }: Pick<TargetReport, "ended" | "maintenance" | "maintenance_until">,
  nowMs: number,
): string | null {
  const end = until === null ? "" : ` until ${formatClock(Date.parse(until), nowMs)}`;
  return maintenance && (ended === null || until !== null) ? `in maintenance${end}` : null;
}

/** A target that is not ok, and what could replace it. */
export interface TargetProblem {
  readonly target: TargetReport;
  readonly chain: ChainSummary;
  readonly pair: PairState;
  readonly severity: Severity;
  /**
   * The other targets of its protocol and chain that are ok, freshest first. A target that has ended is not an alternative to
   * one still running.
   */
  readonly alternatives: readonly TargetReport[];
}

/**
 * Every target of `selected` that is not ok, worst first: mainnets before testnets, then by severity, status and lag. Any
 * target of the report may be an alternative.
 */
export function findProblems(
  report: Report,
  selected = report.targets,
  judgement: Judgement = judgeReport(report),
): readonly TargetProblem[] {
  const keys = new Set(selected.map(({ key }) => key));
  return judgeReport(report)
    .pairs.flatMap(({ chain, state: pair, targets }) => {
      const alternatives = targets
        .filter(({ status }) => status === "ok")
        .sort((a, b) => (a.lag_seconds ?? 0) - (b.lag_seconds ?? 0));
      return targets
        .filter(({ key, status }) => status !== "ok" && keys.has(key))
        .map((target) => {
          const severity = judgement.targets.get(target.key) ?? "unknown";
          const fit = alternatives.filter(({ ended }) => ended === null || target.ended !== null);
          return { target, chain, pair, severity, alternatives: fit };
        });
    })
    .sort(byUrgency);
}

function byUrgency(a: TargetProblem, b: TargetProblem): number {
  return (
    Number(a.chain.testnet) - Number(b.chain.testnet) ||
    Number(isAtLeast(b.severity, a.severity)) - Number(isAtLeast(a.severity, b.severity)) ||
    statusRank(b.target.status) - statusRank(a.target.status) ||
    (b.target.lag_seconds ?? 0) - (a.target.lag_seconds ?? 0)
  );
}

/** The alternatives that can serve the users of a target. Users of production are never sent to another tier. */
export function failoverTargets({ target, alternatives }: TargetProblem): readonly TargetReport[] {
  return isProduction(target) ? alternatives.filter(isProduction) : alternatives;
}

/**
 * Which other variants are ok: `multichain is ok`, or `no other variant is ok`. The word `only`, as in
 * `only subgraph (testing) is ok`, means that the users cannot be sent to these variants.
 */
export function describeAlternatives(problem: TargetProblem): string {
  const targets = failoverTargets(problem);
  const names = [...new Set((targets.length === 0 ? problem.alternatives : targets).map(variantName))];
  if (names.length === 0) {
    return "no other variant is ok";
  }
  const only = targets.length === 0 ? "only " : "";
  return `${only}${formatList(names)} ${names.length === 1 ? "is" : "are"} ok`;
}
