import type {
  MeasuredChain,
  MeasuredParity,
  MeasuredTarget,
  StatusSource,
} from "../../core/model/metrics-source.ts";
import { STATUSES } from "../../core/model/report.ts";
import type { ChainJson, ParityJson, StatusJson, TargetJson } from "../api/api-schema.ts";

/** A status read back from its JSON, as the metrics read it from a report: the values are those of `/metrics`. */
export function statusSource({ chains, targets, gaps, parity, incidents }: StatusJson): StatusSource {
  return {
    report: {
      chains: chains.map((chain) => ({
        ...measuredChain(chain),
        targets: targets.filter((target) => target.chain === chain.slug).map(measuredTarget),
        gaps: gaps
          .filter((gap) => gap.chain === chain.slug)
          .map(({ against, blocks, seconds, uncertainty_blocks, chain_id, ...id }) => ({
            target: { ...id, chainId: chain_id },
            against,
            blocks,
            seconds,
            uncertaintyBlocks: uncertainty_blocks,
          })),
        parity: parity.filter((one) => one.chain === chain.slug).map(measuredParity),
      })),
      incidents,
    },
  };
}

function measuredParity(json: ParityJson): MeasuredParity {
  const { protocol, variant, tier, chain, chain_id, against, block, difference, probe, result } = json;
  return {
    target: { protocol, variant, tier, chain, chainId: chain_id },
    against: { variant: against },
    probe,
    result: result === "equal" || result === "different" ? result : "unknown",
    compared: block === null ? null : { block, difference },
    lastComparisonMs: unixMs(json.last_comparison),
  };
}

function measuredChain(chain: ChainJson): Omit<MeasuredChain, "targets" | "gaps" | "parity"> {
  const { lagging_seconds, critical_seconds, stalled_seconds } = chain.thresholds;
  return {
    chain: {
      slug: chain.slug,
      id: chain.chain_id,
      thresholds: {
        laggingMs: milliseconds(lagging_seconds),
        criticalMs: milliseconds(critical_seconds),
        stalledMs: milliseconds(stalled_seconds),
      },
    },
    reference:
      chain.reference === null
        ? null
        : { block: chain.reference.block_number, sources: chain.reference.sources },
    blockIntervalMs:
      chain.block_interval_seconds === null ? null : milliseconds(chain.block_interval_seconds),
  };
}

function measuredTarget(json: TargetJson): MeasuredTarget {
  const { protocol, variant, tier, chain, chain_id, status, up, maintenance } = json;
  const blockTimeMs = unixMs(json.block_timestamp);
  return {
    target: { protocol, variant, tier, chain, chainId: chain_id },
    // A daemon of another version may have another word.
    status: STATUSES.find((known) => known === status) ?? "unknown",
    up,
    maintenance,
    block: json.block_number,
    blockTimestampSec: blockTimeMs === null ? null : blockTimeMs / 1000,
    lastSuccessMs: unixMs(json.last_success),
    lastAdvanceMs: unixMs(json.last_advance),
    lagBlocks: json.lag_blocks,
    lagMs: json.lag_seconds === null ? null : milliseconds(json.lag_seconds),
  };
}

/** A report has whole microseconds at most: rounded, so that the way through seconds changes no value. */
function milliseconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1000;
}

function unixMs(isoTime: string | null): number | null {
  return isoTime === null ? null : Date.parse(isoTime);
}
