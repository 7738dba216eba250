import type { HistorySlice } from "../../core/history/history.ts";
import type { ChainReport, Report } from "../../core/model/report.ts";
import type { HistoryJson } from "./api-schema.ts";
import { isoTime } from "./status.ts";

/** The targets of a protocol on a chain, whose history is to be read; null if there are none. */
export function historyTargets(
  report: Report,
  protocol: string,
  chain: string,
): { readonly keys: readonly string[]; readonly chainReport: ChainReport } | null {
  const chainReport = report.chains.find((one) => one.chain.slug === chain);
  const own = chainReport?.targets.filter(({ target }) => target.protocol === protocol) ?? [];
  return chainReport === undefined || own.length === 0
    ? null
    : { keys: own.map(({ target }) => target.key), chainReport };
}

/** The history of one protocol on one chain, for programs and for the plots. */
export function historyJson(
  protocol: string,
  { chain, targets, gaps }: ChainReport,
  { past, nowMs }: { readonly past: HistorySlice; readonly nowMs: number },
): HistoryJson {
  return {
    generated_at: isoTime(nowMs),
    protocol,
    chain: chain.slug,
    chain_id: chain.id,
    timestamps: past.timesMs.map((timeMs) => timeMs / 1000),
    reference_block_number: past.reference,
    targets: targets.flatMap(({ target }) => {
      const own = past.targets[target.key];
      return own === undefined
        ? []
        : [
            {
              variant: target.variant,
              tier: target.tier,
              block_number: own.block,
              lag_seconds: own.lagMs.map((lagMs) => (lagMs === null ? null : lagMs / 1000)),
              against: gaps.find((gap) => gap.target.key === target.key)?.against ?? null,
              gap_blocks: own.gapBlocks,
              gap_uncertainty_blocks: own.uncertaintyBlocks,
            },
          ];
    }),
  };
}
