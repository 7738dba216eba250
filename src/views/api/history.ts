import type { HistorySlice } from "../../core/history/history.ts";
import type { Report, TargetReport } from "../../core/model/report.ts";
import type { HistoryJson } from "./api-schema.ts";

/** The history of the targets of one protocol on one chain, for programs and for the plots. */
export function historyJson(
  report: Report,
  targets: readonly TargetReport[],
  past: HistorySlice,
): HistoryJson {
  const [first] = targets;
  return {
    generated_at: report.generated_at,
    protocol: first?.protocol ?? "",
    chain: first?.chain ?? "",
    chain_id: first?.chain_id ?? 0,
    timestamps: past.timesMs.map((timeMs) => timeMs / 1000),
    reference_block_number: past.reference,
    targets: targets.flatMap(({ key, variant, tier }) => {
      const own = past.targets[key];
      return own === undefined
        ? []
        : [
            {
              variant,
              tier,
              block_number: own.block,
              lag_seconds: own.lagMs.map((lagMs) => (lagMs === null ? null : lagMs / 1000)),
              against: report.gaps.find((gap) => gap.key === key)?.against ?? null,
              gap_blocks: own.gapBlocks,
              gap_uncertainty_blocks: own.uncertaintyBlocks,
            },
          ];
    }),
  };
}
