import { servingTargets } from "../../core/model/fleet.ts";
import type { ParityReport, Report, TargetReport } from "../../core/model/report.ts";
import { formatAgo, formatDuration } from "../../core/model/text.ts";
import type { HealthJson, HealthTargetJson } from "./api-schema.ts";
import { selectTargets } from "./selection.ts";

/** The question of a load balancer: can traffic be sent to a protocol on a chain, to any of its variants or to one? */
export interface HealthQuery {
  readonly protocol: string;
  readonly chain: string;
  readonly variant?: string | undefined;
  /** Only this tier; by default the one that serves users: production, or any where the protocol has none. */
  readonly tier?: string | undefined;
  /** Default: the `lagging` threshold of the chain. */
  readonly maxLagSeconds?: number | undefined;
  /** `equal`: a target whose data differ from another variant's is not healthy. */
  readonly parity?: "equal" | undefined;
}

/**
 * Whether traffic can be sent there: healthy while a considered target is `ok` and no more than `maxLagSeconds` behind or,
 * where its lag is unknown, has advanced within them.
 *
 * Null if there is no such protocol, chain, variant and tier.
 */
export function healthJson(report: Report, query: HealthQuery): HealthJson | null {
  const chain = report.chains.find(({ slug }) => slug === query.chain);
  const ofTier = targetsOfTier(report.targets, query);
  const considered = ofTier.filter(({ variant }) => query.variant === undefined || variant === query.variant);
  if (chain === undefined || considered.length === 0) {
    return null;
  }
  const { maxLagSeconds = chain.thresholds.lagging_seconds } = query;
  const rules: Rules = {
    maxLagSeconds,
    hasReference: chain.reference !== null,
    nowMs: Date.parse(report.generated_at),
    differing: query.parity === "equal" ? differingTargets(report.parity) : new Map(),
  };
  const freshest = findFreshest(ofTier);
  const targets = considered.map((target) => healthTargetJson(target, rules));
  return {
    generated_at: report.generated_at,
    protocol: query.protocol,
    chain: query.chain,
    variant: query.variant ?? null,
    max_lag_seconds: maxLagSeconds,
    healthy: targets.some(({ healthy }) => healthy),
    judged_by:
      rules.hasReference || considered.some((target) => target.lag_seconds !== null) ? "lag" : "advance",
    freshest: freshest === null ? null : healthTargetJson(freshest, rules),
    why: explain(targets),
    targets,
  };
}

/** The targets of the protocol in the requested tier. */
function targetsOfTier(
  targets: readonly TargetReport[],
  { protocol, chain, tier }: HealthQuery,
): readonly TargetReport[] {
  const own = selectTargets(targets, { protocol, chain, tier });
  return tier === undefined ? servingTargets(own) : own;
}

interface Rules {
  readonly maxLagSeconds: number;
  readonly hasReference: boolean;
  readonly nowMs: number;
  /** Why the data of a target differ, by its key. */
  readonly differing: ReadonlyMap<string, string>;
}

/** Of two that differ, both; where one is known to be the odd one out, that one alone. */
function differingTargets(parity: readonly ParityReport[]): ReadonlyMap<string, string> {
  const differences = parity.filter(({ result }) => result === "different");
  return new Map(
    differences.flatMap((one) => {
      const keys = one.odd_key === null ? [one.key, one.against_key] : [one.odd_key];
      const why = `data differ by probe ${one.probe}: ${one.variant} ${one.detail}`;
      return keys.map((key) => [key, why] as const);
    }),
  );
}

/** The preferred target, else the highest one that is not diverged. */
function findFreshest(targets: readonly TargetReport[]): TargetReport | null {
  const heightOf = (target: TargetReport) => target.block_number ?? 0;
  const credible = targets.filter((target) => heightOf(target) > 0 && target.status !== "diverged");
  const highest = credible.toSorted((a, b) => heightOf(b) - heightOf(a))[0];
  return targets.find(({ preferred }) => preferred) ?? highest ?? null;
}

function healthTargetJson(report: TargetReport, rules: Rules): HealthTargetJson {
  const { healthy, why } = judge(report, rules);
  return {
    variant: report.variant,
    tier: report.tier,
    status: report.status,
    healthy,
    block_number: report.block_number,
    lag_seconds: report.lag_seconds,
    last_advance: report.last_advance,
    why,
  };
}

function judge(report: TargetReport, rules: Rules): { readonly healthy: boolean; readonly why: string } {
  const difference = rules.differing.get(report.key);
  if (report.status === "ok" && difference !== undefined) {
    return { healthy: false, why: difference };
  }
  if (report.status !== "ok") {
    return { healthy: false, why: `${report.status}: ${report.detail}` };
  }
  if (report.lag_seconds !== null) {
    const healthy = report.lag_seconds <= rules.maxLagSeconds;
    const limit = healthy ? "" : `, more than ${formatDuration(rules.maxLagSeconds * 1000)}`;
    return {
      healthy,
      why: `${formatDuration(report.lag_seconds * 1000)} behind the ${rules.hasReference ? "reference" : "clock"}${limit}`,
    };
  }
  return judgeAdvance(report, rules);
}

function judgeAdvance({ last_advance: time }: TargetReport, { maxLagSeconds, hasReference, nowMs }: Rules) {
  const cause = hasReference ? "lag unknown" : "the chain has no reference";
  if (time === null) {
    return { healthy: false, why: `${cause}; never seen to advance` };
  }
  const healthy = nowMs - Date.parse(time) <= maxLagSeconds * 1000;
  const limit = healthy ? "" : `, more than ${formatDuration(maxLagSeconds * 1000)}`;
  return { healthy, why: `${cause}; last advanced ${formatAgo(Date.parse(time), nowMs)}${limit}` };
}

/** Why each healthy target is healthy or, where none is, why each is not. */
function explain(targets: readonly HealthTargetJson[]): string {
  const healthy = targets.filter((target) => target.healthy);
  return (healthy.length > 0 ? healthy : targets)
    .map(({ variant, tier, why }) => `${variant} (${tier}): ${why}`)
    .join("; ");
}
