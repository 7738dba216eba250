import type { ChainSummary, Report, TargetReport } from "../../core/model/report.ts";
import { type Selection, selectTargets } from "../api/selection.ts";
import { groupPairs, type PairState, pairState } from "../wording/problems.ts";

/** Exit code of `synclag check`, as for monitoring plugins: ok, warning, critical, unknown. */
export type CheckExitCode = 0 | 1 | 2 | 3;

const EXIT_CODES: Readonly<Record<PairState, CheckExitCode>> = {
  ok: 0,
  degraded: 1,
  behind: 1,
  unknown: 2,
  down: 2,
};

/**
 * 0: every target is ok. 2: some protocol and chain has no ok variant left that serves users; a selection that names a
 * variant considers that one alone. 1: anything between, or data that differ. 3: nothing could be learned at all.
 */
export function checkExitCode(json: Report, selections: readonly Selection[]): CheckExitCode {
  if (json.targets.every(({ status }) => status === "unknown")) {
    return 3;
  }
  const chains = new Map(json.chains.map((chain) => [chain.slug, chain]));
  const selected =
    selections.length === 0 ? [json.targets] : selections.map((one) => selectTargets(json.targets, one));
  const codes = selected.flatMap((targets) =>
    [...groupPairs(targets).values()].map((pair) => EXIT_CODES[stateOf(pair, chains)]),
  );
  if (json.parity.some(({ result }) => result === "different")) {
    codes.push(1);
  }
  const worstFirst: readonly CheckExitCode[] = [2, 1];
  return worstFirst.find((code) => codes.includes(code)) ?? 0;
}

function stateOf(pair: readonly TargetReport[], chains: ReadonlyMap<string, ChainSummary>): PairState {
  const critical = chains.get(pair[0]?.chain ?? "")?.thresholds.critical_seconds;
  return pairState(pair, critical ?? 0);
}
