import { servingTargets } from "../../core/model/fleet.ts";
import type { ParityReport, Report, TargetReport } from "../../core/model/report.ts";
import { formatAgo, formatDuration } from "../../core/model/text.ts";
import type { HealthJson, HealthTargetJson } from "./api-schema.ts";
import { isoTime } from "./status.ts";

/** The question of a load balancer: can traffic be sent to a protocol on a chain, to any of its variants or to one? */
export interface HealthQuery {
  readonly protocol: string;
  readonly chain: string;
  readonly variant?: string | undefined;
  /** Only this tier; by default the one that serves users: production, or any where the protocol has none. */
  readonly tier?: string | undefined;
  /** Default: the `lagging` threshold of the chain. */
  readonly maxLagMs?: number | undefined;
  /** `equal`: a target whose data differ from another variant's is not healthy. */
  readonly parity?: "equal" | undefined;
}

/**
 * Whether traffic can be sent there: healthy while a considered target is `ok` and no more than `maxLagMs` behind or, where
 * its lag is unknown, has advanced within `maxLagMs`.
 *
 * Null if there is no such protocol, chain, variant and tier.
 */
export function healthJson(report: Report, query: HealthQuery): HealthJson | null {
  const chainReport = report.chains.find(({ chain }) => chain.slug === query.chain);
  const ofTier = targetsOfTier(chainReport?.targets ?? [], query);
  const considered = ofTier.filter(
    ({ target }) => query.variant === undefined || target.variant === query.variant,
  );
  if (chainReport === undefined || considered.length === 0) {
    return null;
  }
  const { maxLagMs = chainReport.chain.thresholds.laggingMs } = query;
  const rules: Rules = {
    maxLagMs,
    hasReference: chainReport.reference !== null,
    nowMs: report.generatedAtMs,
    differing: query.parity === "equal" ? differingTargets(chainReport.parity) : new Map(),
  };
  const freshest = findFreshest(ofTier);
  const targets = considered.map((target) => healthTargetJson(target, rules));
  return {
    generated_at: isoTime(report.generatedAtMs),
    protocol: query.protocol,
    chain: query.chain,
    variant: query.variant ?? null,
    max_lag_seconds: maxLagMs / 1000,
    healthy: targets.some(({ healthy }) => healthy),
    judged_by: rules.hasReference || considered.some(({ lagMs }) => lagMs !== null) ? "lag" : "advance",
    freshest: freshest === null ? null : healthTargetJson(freshest, rules),
    why: explain(targets),
    targets,
  };
}

/** The targets of the protocol in the requested tier. */
function targetsOfTier(
  targets: readonly TargetReport[],
  { protocol, tier }: HealthQuery,
): readonly TargetReport[] {
  const own = targets.filter(({ target }) => target.protocol === protocol);
  const serving = new Set(servingTargets(own.map(({ target }) => target)));
  return own.filter(({ target }) => (tier === undefined ? serving.has(target) : target.tier === tier));
}

interface Rules {
  readonly maxLagMs: number;
  readonly hasReference: boolean;
  readonly nowMs: number;
  /** Why the data of a target differ, by its key. */
  readonly differing: ReadonlyMap<string, string>;
}

/** Of two that differ, both; where one is known to be the odd one out, that one alone. */
function differingTargets(parity: readonly ParityReport[]): ReadonlyMap<string, string> {
  const differences = parity.filter(({ result }) => result === "different");
  return new Map(
    differences.flatMap(({ against, detail, odd, probe, target }) => {
      const keys = odd === null ? [target.key, against.key] : [(odd === "target" ? target : against).key];
      const why = `data differ by probe ${probe}: ${target.variant} ${detail}`;
      return keys.map((key) => [key, why] as const);
    }),
  );
}

/** The preferred target, else the highest one that is not diverged. */
function findFreshest(targets: readonly TargetReport[]): TargetReport | null {
  const credible = targets.filter(({ block, status }) => block !== null && status !== "diverged");
  const highest = credible.toSorted((a, b) => (b.block ?? 0) - (a.block ?? 0))[0];
  return targets.find(({ preferred }) => preferred) ?? highest ?? null;
}

function healthTargetJson(report: TargetReport, rules: Rules): HealthTargetJson {
  const { healthy, why } = judge(report, rules);
  return {
    variant: report.target.variant,
    tier: report.target.tier,
    status: report.status,
    healthy,
    block_number: report.block,
    lag_seconds: report.lagMs === null ? null : report.lagMs / 1000,
    last_advance: report.lastAdvanceMs === null ? null : isoTime(report.lastAdvanceMs),
    why,
  };
}

function judge(report: TargetReport, rules: Rules): { readonly healthy: boolean; readonly why: string } {
  const difference = rules.differing.get(report.target.key);
  if (report.status === "ok" && difference !== undefined) {
    return { healthy: false, why: difference };
  }
  if (report.status !== "ok") {
    return { healthy: false, why: `${report.status}: ${report.detail}` };
  }
  if (report.lagMs !== null) {
    const healthy = report.lagMs <= rules.maxLagMs;
    const limit = healthy ? "" : `, more than ${formatDuration(rules.maxLagMs)}`;
    return {
      healthy,
      why: `${formatDuration(report.lagMs)} behind the ${rules.hasReference ? "reference" : "clock"}${limit}`,
    };
  }
  return judgeAdvance(report, rules);
}

function judgeAdvance({ lastAdvanceMs }: TargetReport, { maxLagMs, hasReference, nowMs }: Rules) {
  const cause = hasReference ? "lag unknown" : "the chain has no reference";
  if (lastAdvanceMs === null) {
    return { healthy: false, why: `${cause}; never seen to advance` };
  }
  const healthy = nowMs - lastAdvanceMs <= maxLagMs;
  const limit = healthy ? "" : `, more than ${formatDuration(maxLagMs)}`;
  return { healthy, why: `${cause}; last advanced ${formatAgo(lastAdvanceMs, nowMs)}${limit}` };
}

/** Why each healthy target is healthy or, where none is, why each is not. */
function explain(targets: readonly HealthTargetJson[]): string {
  const healthy = targets.filter((target) => target.healthy);
  return (healthy.length > 0 ? healthy : targets)
    .map(({ variant, tier, why }) => `${variant} (${tier}): ${why}`)
    .join("; ");
}
