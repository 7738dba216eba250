import type {
  BudgetReport,
  ChainReport,
  GapReport,
  Incident,
  ParityReport,
  ReplicaReport,
  Report,
  TargetReport,
} from "../../core/model/report.ts";
import type {
  BudgetJson,
  ChainJson,
  GapJson,
  IncidentJson,
  ParityJson,
  StatusJson,
  TargetJson,
} from "./api-schema.ts";

/** The report in the form of the API, every list in the order of the configuration. */
export function statusJson(report: Report): StatusJson {
  return {
    generated_at: isoTime(report.generatedAtMs),
    replica: report.replica === undefined ? null : replicaJson(report.replica),
    chains: report.chains.map(chainJson),
    targets: report.chains.flatMap((chain) => chain.targets.map(targetJson)),
    gaps: report.chains.flatMap((chain) => chain.gaps.map(gapJson)),
    parity: report.chains.flatMap((chain) => chain.parity.map(parityJson)),
    incidents: report.incidents.map(incidentJson),
    budgets: report.budgets.map(budgetJson),
    skipped: report.skipped.map(({ protocol, variant, tier, why }) => ({ protocol, variant, tier, why })),
  };
}

/** ISO 8601 in UTC of a unix time in milliseconds. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function replicaJson({ role, name, leader, ageMs }: ReplicaReport): NonNullable<StatusJson["replica"]> {
  return { role, name, leader, age_seconds: orNull(ageMs, seconds) };
}

function chainJson({ chain, reference, blockIntervalMs }: ChainReport): ChainJson {
  return {
    slug: chain.slug,
    chain_id: chain.id,
    name: chain.name,
    testnet: chain.testnet,
    block_time_seconds: orNull(chain.blockTimeMs, seconds),
    block_interval_seconds: orNull(blockIntervalMs, seconds),
    reference: orNull(reference, ({ block, members, opposed, sources, timeMs }) => ({
      block_number: block,
      sources,
      members,
      opposed,
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
    up: report.up,
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

function parityJson(report: ParityReport): ParityJson {
  const { target, against, compared } = report;
  const { protocol, variant, tier, chain, chainId } = target;
  return {
    protocol,
    variant,
    tier,
    chain,
    chain_id: chainId,
    probe: report.probe,
    against: against.variant,
    result: report.result,
    block: compared?.block ?? null,
    value: compared?.value ?? null,
    against_value: compared?.againstValue ?? null,
    difference: compared?.difference ?? null,
    since: orNull(report.sinceMs, isoTime),
    last_comparison: orNull(report.lastComparisonMs, isoTime),
    odd: orNull(report.odd, (side) => report[side].variant),
    detail: report.detail,
  };
}

function incidentJson({ scope, subject, sinceMs, detail, targets }: Incident): IncidentJson {
  return { scope, subject, since: isoTime(sinceMs), detail, targets };
}

function budgetJson(report: BudgetReport): BudgetJson {
  const { budget, endpoint, backOff, limit, used, remaining, drawnBy } = report;
  const detail = backOff ?? null;
  return {
    budget: budget.name,
    endpoint: endpoint?.key ?? null,
    per: budget.per,
    limit,
    used,
    remaining,
    detail,
    drawn_by: (drawnBy ?? []).map(({ name, requests }) => ({ name, requests })),
  };
}

function seconds(durationMs: number): number {
  return durationMs / 1000;
}

function orNull<T, R>(value: T | null, convert: (value: T) => R): R | null {
  return value === null ? null : convert(value);
}
