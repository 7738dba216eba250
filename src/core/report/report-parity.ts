import type { ChainState, WatchedChain } from "../chain/chain-state.ts";
import type { ChainClock } from "../head/chain-clock.ts";
import { variantName } from "../model/fleet.ts";
import type { ParityValue } from "../model/parity.ts";
import { type ParityReport, type TargetReport, targetId } from "../model/report.ts";
import { wallTime } from "../model/sample.ts";
import { formatCount, formatDuration, formatNumber } from "../model/text.ts";
import { isContradictory, isSteady, type KnownValues, newKnownValues } from "../parity/known-values.ts";
import {
  DIFFERENCES,
  DIFFERENT_AFTER_MS,
  type KnownComparison,
  newKnownComparison,
  parityStaleMs,
} from "../parity/parity-state.ts";
import type { ComparedTargets, WatchedProbe } from "../parity/watched-probe.ts";

/** Whether the targets of a chain have the same data, for the probes of chains.yaml. `targets`: the reports of the targets. */
export function reportParity(
  { clock, parity: { comparisons, values } }: ChainState,
  { chain, probes }: WatchedChain,
  targets: readonly TargetReport[],
  nowMs: number,
): readonly ParityReport[] {
  const reports = new Map(targets.map((report) => [report.key, report]));
  return probes.flatMap((probe) => {
    const known = probe.compared.map((compared): ShownComparison => {
      const { target, against, key } = compared;
      const sides = [
        sideOf(target, against, { probe: probe.name, values, reports }),
        sideOf(against, target, { probe: probe.name, values, reports }),
      ] as const;
      const found = comparisons[key] ?? newKnownComparison();
      const staleMs = parityStaleMs(probe, compared, chain.thresholds.staleMs);
      const isStale = found.last === null || nowMs - found.last.atMs > staleMs;
      const isKnown = !isStale && sides.every(({ doubt }) => doubt === null);
      const state = isKnown ? found : { ...newKnownComparison(), streak: found.streak };
      return { ...state, compared, sides };
    });
    const odd = oddOnesOut(
      known.map(({ compared, result }) => ({
        target: compared.target.key,
        against: compared.against.key,
        result,
      })),
    );
    return known.map((one) => reportComparison(probe, one, odd, { nowMs, clock }));
  });
}

/** What is known of two targets at one instant: without a result if the result is stale or doubted. */
interface ShownComparison extends KnownComparison {
  readonly compared: ComparedTargets;
  readonly sides: readonly [own: Side, against: Side];
}

/** What is known of one of the two targets. */
interface Side {
  /** The variant; with its tier if the tiers of the two differ. */
  readonly name: string;
  readonly values: KnownValues;
  /** Why its data cannot be compared now, or null. */
  readonly doubt: string | null;
  /** Why its query failed when it was last sent, or null. */
  readonly failure: string | null;
}

function sideOf(
  target: ComparedTargets["target"],
  other: ComparedTargets["target"],
  known: {
    readonly probe: string;
    readonly values: Readonly<Record<string, KnownValues>>;
    readonly reports: ReadonlyMap<string, TargetReport>;
  },
): Side {
  const { key, queryKey, tier } = target;
  const report = known.reports.get(key);
  const name = tier === other.tier ? target.variant : variantName(target);
  const query = report?.probes.find(({ probe }) => probe === known.probe);
  const failure = query?.detail == null ? null : `${name} did not answer: ${query.detail}`;
  return {
    name,
    values: known.values[queryKey] ?? newKnownValues(),
    doubt: doubtOf(report) ?? (query?.result === "failing" ? failure : null),
    failure,
  };
}

/** The odd ones out by key, each with the targets that are equal to one another. */
type Odd = ReadonlyMap<string, readonly string[]>;

function reportComparison(
  { name }: WatchedProbe,
  known: ShownComparison,
  odd: Odd,
  { clock, nowMs }: { readonly clock: ChainClock; readonly nowMs: number },
): ParityReport {
  const { comparison, last, compared, result, sides, sinceMs } = known;
  const oddOne = result === "different" ? oddOf(compared, odd) : undefined;
  return {
    ...targetId(compared.target),
    probe: name,
    against: compared.against.variant,
    against_key: compared.against.key,
    result,
    block: comparison?.block ?? null,
    value: comparison?.own.text ?? null,
    against_value: comparison?.against.text ?? null,
    difference: comparison === null ? null : differenceOf(comparison.own, comparison.against),
    since: sinceMs === null ? null : wallTime(sinceMs, clock),
    last_comparison: last === null ? null : wallTime(last.atMs, clock),
    odd: oddOne?.variant ?? null,
    odd_key: oddOne?.key ?? null,
    latest: latestOf(sides[0].values, clock),
    against_latest: latestOf(sides[1].values, clock),
    detail: parityDetail(known, odd, nowMs),
  };
}

/** Why the data of a target cannot be compared now, or null. */
function doubtOf(report: TargetReport | undefined): string | null {
  if (report === undefined) {
    return null;
  }
  const { block_number: block, reason, status, variant } = report;
  // A failing query says nothing about the values of another query.
  if (status === "diverged" || (status === "failed" && reason !== "query")) {
    return `${variant} is ${status}`;
  }
  return block === null ? `${variant} has no fresh height` : null;
}

function oddOf({ target, against }: ComparedTargets, odd: Odd): ComparedTargets["target"] | undefined {
  return [target, against].find(({ key }) => odd.has(key));
}

function latestOf({ lastMs, runs }: KnownValues, clock: ChainClock): ParityReport["latest"] {
  const run = runs.at(-1);
  return run === undefined || lastMs === null
    ? null
    : { block_number: run.to, value: run.text, read: wallTime(lastMs, clock) };
}

/** `against - own` where both are numbers, else null. Decimals of any length are subtracted exactly, then rounded. */
function differenceOf(own: ParityValue, against: ParityValue): number | null {
  const [here, there] = [own, against].map(({ text, isNumber }) =>
    isNumber ? /^(-?\d+)(?:\.(\d+))?$/.exec(text) : null,
  );
  if (here == null || there == null) {
    return null;
  }
  const scale = Math.max(...[here, there].map(([, , fraction = ""]) => fraction.length));
  const unitsOf = ([, whole = "", fraction = ""]: RegExpExecArray) =>
    BigInt(`${whole}${fraction.padEnd(scale, "0")}`);
  return Number(`${unitsOf(there) - unitsOf(here)}e-${scale}`);
}

/**
 * The odd ones out: targets that differ from the largest group of targets with equal data, each with that group. There are none
 * if another group is as large, or if no two targets are equal.
 */
export function oddOnesOut(
  comparisons: readonly {
    readonly target: string;
    readonly against: string;
    readonly result: KnownComparison["result"];
  }[],
): Odd {
  // A group begins with one target, and grows by each target that is equal to one of its members.
  let groups = [...new Set(comparisons.flatMap(({ target, against }) => [target, against]))].map((key) => [
    key,
  ]);
  for (const { target, against } of comparisons.filter(({ result }) => result === "equal")) {
    const joined = groups.filter((group) => group.includes(target) || group.includes(against));
    groups = [...groups.filter((group) => !joined.includes(group)), joined.flat()];
  }
  const [largest = [], second = []] = groups.toSorted((a, b) => b.length - a.length);
  if (largest.length < 2 || largest.length === second.length) {
    return new Map();
  }
  return new Map(
    comparisons
      .filter(({ result }) => result === "different")
      .map(({ target, against }) => [target, against].filter((key) => !largest.includes(key)))
      .flatMap(([key, another]) => (key === undefined || another !== undefined ? [] : [[key, largest]])),
  );
}

/** Why two targets are said to have the same data, or not, in one sentence. */
function parityDetail(known: ShownComparison, odd: Odd, nowMs: number): string {
  const { comparison, compared, result, sides, sinceMs } = known;
  const against = sides[1].name;
  if (comparison === null || sinceMs === null) {
    return `not known to be equal to ${against}: ${whyUnknown(known)}`;
  }
  const at = `at block ${formatNumber(comparison.block)}`;
  const forText = `for ${formatDuration(Math.max(0, nowMs - sinceMs))}`;
  return result === "equal"
    ? `equal to ${against} ${forText}: ${comparison.own.text} ${at}${streakText(known)}`
    : `differs from ${against} ${forText}: ${comparison.own.text} here and ${comparison.against.text} there ${at}; ${wrongSideText(compared, odd)}`;
}

function wrongSideText(compared: ComparedTargets, odd: Odd): string {
  const wrong = oddOf(compared, odd);
  return wrong === undefined
    ? "nothing shows which of the two is wrong"
    : `${variantName(wrong)} is the odd one out, ${formatCount(odd.get(wrong.key)?.length ?? 0, "other")} agree`;
}

function streakText({ streak }: ShownComparison): string {
  return streak === null
    ? ""
    : `; the last ${streak.count === 1 ? "comparison" : `${streak.count} comparisons`} differed, too few to report a difference`;
}

function whyUnknown({ sides, streak }: ShownComparison): string {
  const reasons = [
    ...sides.map(({ doubt }) => doubt),
    ...sides.map(({ failure }) => failure),
    ...sides.map(({ values }) => values.unreadable),
    ...sides.map(({ name, values }) => (values.runs.length === 0 ? `${name} was not read yet` : null)),
    streak === null
      ? null
      : `${formatCount(streak.count, "comparison")} differed; a difference is reported after ${DIFFERENCES} in a row over at least ${formatDuration(DIFFERENT_AFTER_MS)}`,
    ...sides.map(({ name, values }) =>
      isContradictory(values) ? `${name} gave two values for one height` : null,
    ),
    ...sides.map(({ name, values }) =>
      isSteady(values) ? null : `the value of ${name} comes and goes between polls`,
    ),
  ];
  return reasons.find((reason) => reason !== null) ?? "no block is known at which both were read";
}
