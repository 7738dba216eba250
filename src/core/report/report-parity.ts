import type { ChainState, WatchedChain } from "../head/chain-state.ts";
import type { Target } from "../model/fleet.ts";
import { type ParityReport, type TargetReport, targetId } from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import { differenceOf } from "../parity/compare.ts";
import type { KnownValues } from "../parity/known-values.ts";
import { oddOnesOut } from "../parity/odd-one-out.ts";
import { type Comparison, type PairState, withoutResult } from "../parity/pair-state.ts";
import { knownValuesOf, pairStateOf, parityStaleMs } from "../parity/parity-state.ts";
import type { ParityPair, WatchedProbe } from "../parity/watched-probe.ts";
import { parityDetail } from "./parity-detail.ts";

/** What the report of a chain says of its targets. */
interface ReportedTargets {
  readonly targets: readonly TargetReport[];
  readonly nowMs: number;
}

/** Whether the targets of a chain have the same data, for the probes of chains.yaml. */
export function reportParity(
  { parity }: ChainState,
  { chain, probes }: WatchedChain,
  { targets, nowMs }: ReportedTargets,
): readonly ParityReport[] {
  const reports = new Map(targets.map((report) => [report.key, report]));
  return probes.flatMap((probe) => {
    const known = probe.pairs.map((pair): KnownPair => {
      const state = pairStateOf(parity, probe, pair);
      const staleMs = parityStaleMs(probe, pair, chain.thresholds.staleMs);
      const isStale = state.last === null || nowMs - state.last.atMs > staleMs;
      const doubt = doubtOf(reports.get(pair.target.key)) ?? doubtOf(reports.get(pair.against.key));
      return {
        pair,
        state: isStale || doubt !== null ? { ...withoutResult(state), last: null } : state,
        doubt,
        own: knownValuesOf(parity, { probe: probe.name, target: pair.target.key }),
        against: knownValuesOf(parity, { probe: probe.name, target: pair.against.key }),
      };
    });
    return reportProbe(probe, known, nowMs);
  });
}

/** The keys of the targets that differ from others which are equal to one another. */
export function oddTargets(parity: readonly ParityReport[]): ReadonlySet<string> {
  return new Set(parity.flatMap((one) => one.odd_key ?? []));
}

/** What is known of a pair at one instant. */
export interface KnownPair {
  readonly pair: ParityPair;
  /** Without a result where that is stale, or doubted. */
  readonly state: PairState;
  /** Why nothing can be said of it now, or null. */
  readonly doubt: string | null;
  readonly own: KnownValues | undefined;
  readonly against: KnownValues | undefined;
}

function reportProbe(
  { name }: WatchedProbe,
  known: readonly KnownPair[],
  nowMs: number,
): readonly ParityReport[] {
  const odd = oddOnesOut(known.map(({ state }) => state));
  return known.map((one): ParityReport => {
    const { own, against, pair, state } = one;
    const isOdd = ({ key }: Target) => state.result === "different" && odd.has(key);
    const oddOne = [pair.target, pair.against].find(isOdd);
    return {
      ...targetId(pair.target),
      probe: name,
      against: pair.against.variant,
      against_key: pair.against.key,
      result: state.result,
      ...comparedOf(state.comparison),
      since: state.sinceMs === null ? null : isoTime(state.sinceMs),
      last_comparison: state.last === null ? null : isoTime(state.last.atMs),
      odd: oddOne?.variant ?? null,
      odd_key: oddOne?.key ?? null,
      latest: latestOf(own),
      against_latest: latestOf(against),
      detail: parityDetail(one, odd, nowMs),
    };
  });
}

/** What a result rests on. */
function comparedOf(
  comparison: Comparison | null,
): Pick<ParityReport, "block" | "value" | "against_value" | "difference"> {
  return {
    block: comparison?.block ?? null,
    value: comparison?.own.text ?? null,
    against_value: comparison?.against.text ?? null,
    difference: comparison === null ? null : differenceOf(comparison.own, comparison.against),
  };
}

/** Why the data of a target cannot be compared now, or null. */
function doubtOf(report: TargetReport | undefined): string | null {
  if (report === undefined) {
    return null;
  }
  const { block_number: block, status, variant } = report;
  if (status === "diverged" || status === "failed") {
    return `${variant} is ${status}`;
  }
  return block === null ? `${variant} has no fresh height` : null;
}

function latestOf(known: KnownValues | undefined): ParityReport["latest"] {
  const run = known?.runs.at(-1);
  return known === undefined || run === undefined || known.lastMs === null
    ? null
    : { block_number: run.to, value: run.text, read: isoTime(known.lastMs) };
}
