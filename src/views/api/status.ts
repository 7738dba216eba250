import type { Budget, SkippedIndexer } from "../../core/model/fleet.ts";
import type { FailureReason } from "../../core/model/observation.ts";
import type {
  BudgetReport,
  ChainReport,
  GapReport,
  Incident,
  Report,
  Status,
  TargetReport,
} from "../../core/model/report.ts";

/** A target of `/api/v1/status`. Times are ISO 8601, unknown is null. */
export interface TargetJson {
  readonly protocol: string;
  readonly variant: string;
  readonly tier: string;
  readonly chain: string;
  readonly chain_id: number;
  readonly status: Status;
  readonly reason: FailureReason | null;
  readonly block_number: number | null;
  readonly block_timestamp: string | null;
  readonly lag_blocks: number | null;
  readonly lag_seconds: number | null;
  /** The lag reaches beyond what the chain clock has seen. */
  readonly lag_extrapolated: boolean;
  readonly last_success: string | null;
  readonly last_advance: string | null;
  /** Inside a maintenance window: judged as ever, but marked. */
  readonly maintenance: boolean;
  readonly detail: string;
  readonly explorer: string | null;
}

/** A chain of `/api/v1/status`, with the limits in time that its targets are judged by. */
export interface ChainJson {
  readonly slug: string;
  readonly chain_id: number;
  readonly name: string;
  readonly testnet: boolean;
  /** As configured. */
  readonly block_time_seconds: number | null;
  /** As measured. */
  readonly block_interval_seconds: number | null;
  readonly reference: {
    readonly block_number: number;
    readonly sources: number;
    readonly time: string | null;
  } | null;
  readonly thresholds: {
    readonly lagging_seconds: number;
    readonly critical_seconds: number;
    readonly stalled_seconds: number;
  };
}

/** `blocks` is positive where the target's variant is behind `against`; the truth lies within ± `uncertainty_blocks`. */
export interface GapJson {
  readonly protocol: string;
  readonly variant: string;
  readonly tier: string;
  readonly chain: string;
  readonly chain_id: number;
  readonly against: string;
  readonly blocks: number;
  readonly seconds: number | null;
  readonly uncertainty_blocks: number;
}

/** `targets` holds keys: `protocol/variant/tier/chain`. */
export interface IncidentJson {
  readonly scope: Incident["scope"];
  readonly subject: string;
  readonly since: string;
  readonly detail: string;
  readonly targets: readonly string[];
}

/** `endpoint` is `protocol/variant/tier/name`, `rpc/chain/n`, or null for a budget that many share. */
export interface BudgetJson {
  readonly budget: string;
  readonly endpoint: string | null;
  readonly per: Budget["per"];
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
}

/** The answer of `/api/v1/status`, and what `synclag check --format json` prints. */
export interface StatusJson {
  readonly generated_at: string;
  readonly chains: readonly ChainJson[];
  readonly targets: readonly TargetJson[];
  readonly gaps: readonly GapJson[];
  readonly incidents: readonly IncidentJson[];
  readonly budgets: readonly BudgetJson[];
  readonly skipped: readonly SkippedIndexer[];
}

/** Everything that is known, for programs: a list of rows each, in the order of the configuration. */
export function statusJson(report: Report): StatusJson {
  return {
    generated_at: isoTime(report.generatedAtMs),
    chains: report.chains.map(chainJson),
    targets: report.chains.flatMap((chain) => chain.targets.map(targetJson)),
    gaps: report.chains.flatMap((chain) => chain.gaps.map(gapJson)),
    incidents: report.incidents.map(incidentJson),
    budgets: report.budgets.map(budgetJson),
    skipped: report.skipped.map(({ protocol, variant, tier, why }) => ({ protocol, variant, tier, why })),
  };
}

/** ISO 8601 in UTC of a unix time in milliseconds. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function chainJson({ chain, reference, blockIntervalMs }: ChainReport): ChainJson {
  return {
    slug: chain.slug,
    chain_id: chain.id,
    name: chain.name,
    testnet: chain.testnet,
    block_time_seconds: orNull(chain.blockTimeMs, seconds),
    block_interval_seconds: orNull(blockIntervalMs, seconds),
    reference: orNull(reference, ({ block, sources, timeMs }) => ({
      block_number: block,
      sources,
      time: orNull(timeMs, isoTime),
    })),
    thresholds: {
      lagging_seconds: seconds(chain.thresholds.laggingMs),
      critical_seconds: seconds(chain.thresholds.criticalMs),
      stalled_seconds: seconds(chain.thresholds.stalledMs),
    },
  };
}

function targetJson(report: TargetReport): TargetJson {
  const { protocol, variant, tier, chain, chainId, explorer } = report.target;
  return {
    protocol,
    variant,
    tier,
    chain,
    chain_id: chainId,
    status: report.status,
    reason: report.reason,
    block_number: report.block,
    block_timestamp: orNull(report.blockTimestampSec, (timestampSec) => isoTime(timestampSec * 1000)),
    lag_blocks: report.lagBlocks,
    lag_seconds: orNull(report.lagMs, seconds),
    lag_extrapolated: report.lagExtrapolated,
    last_success: orNull(report.lastSuccessMs, isoTime),
    last_advance: orNull(report.lastAdvanceMs, isoTime),
    maintenance: report.maintenance,
    detail: report.detail,
    explorer,
  };
}

function gapJson(gap: GapReport): GapJson {
  const { protocol, variant, tier, chain, chainId } = gap.target;
  return {
    protocol,
    variant,
    tier,
    chain,
    chain_id: chainId,
    against: gap.against,
    blocks: gap.blocks,
    seconds: gap.seconds,
    uncertainty_blocks: gap.uncertaintyBlocks,
  };
}

function incidentJson({ scope, subject, sinceMs, detail, targets }: Incident): IncidentJson {
  return { scope, subject, since: isoTime(sinceMs), detail, targets };
}

function budgetJson({ budget, endpoint, limit, used, remaining }: BudgetReport): BudgetJson {
  return { budget: budget.name, endpoint: endpoint?.key ?? null, per: budget.per, limit, used, remaining };
}

function seconds(durationMs: number): number {
  return durationMs / 1000;
}

function orNull<T, R>(value: T | null, convert: (value: T) => R): R | null {
  return value === null ? null : convert(value);
}
