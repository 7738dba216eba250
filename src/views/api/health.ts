import type { z } from "zod";
import { servingTargets, servingTier, variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { isBeyond, limitText } from "../../core/model/limit.ts";
import {
  limitOf,
  type ParityReport,
  type Report,
  type TargetReport,
  thresholdsFor,
} from "../../core/model/report.ts";
import { formatCount } from "../../core/model/text.ts";
import { differingKeys } from "../../core/report/pairs.ts";
import { findDifferences } from "../wording/parity.ts";
import { latenessOf } from "../wording/targets.ts";
import type { HealthJson, HealthTargetJson, ProtocolHealthJson } from "./api-schema.ts";
import type { QUERIES } from "./queries.ts";
import { selectTargets } from "./selection.ts";

/** What a load balancer asks: can traffic be sent to a protocol on a chain, to any variant or to the named one? */
export interface HealthQuery extends Partial<z.output<typeof QUERIES.health>> {
  readonly protocol: string;
  readonly chain: string;
}

/**
 * Healthy while a selected target is `ok`, is not late, and passes the query's checks of dispute and parity. A target is late if
 * it is more than `max_lag` seconds behind or, with an unknown lag, has not advanced within `max_lag`.
 *
 * Null if there is no such protocol, chain, variant and tier.
 */
export function healthJson(report: Report, query: HealthQuery): HealthJson | null {
  const chain = report.chains.find((one) => one.slug === query.chain);
  const { protocol, chain: slug, tier, variant } = query;
  const own = selectTargets(report.targets, { protocol, chain: slug, tier });
  const ofTier = tier === undefined ? servingTier(own) : own;
  const considered =
    variant === undefined ? servingTargets(ofTier) : ofTier.filter((target) => variant === target.variant);
  if (chain === undefined || considered.length === 0) {
    return null;
  }
  const { thresholds } = chain;
  const { max_lag: maxLagSeconds } = query;
  const nowMs = Date.parse(report.generated_at);
  const unequal = query.parity === "equal" ? whyUnequal(report) : new Map<string, string>();
  const disputed =
    chain.dispute === null || query.dispute === "ignore" ? null : `no reference: ${chain.dispute}`;
  const hasReference = chain.reference !== null;
  const [unknown, head] = hasReference
    ? (["lag unknown", "reference"] as const)
    : (["the chain has no reference", "clock"] as const);
  function judge(target: TargetReport): HealthTargetJson {
    const { key, variant: name, tier: ownTier, status, detail } = target;
    const { block_number, lag_seconds, last_advance } = target;
    const { lag, text } = latenessOf(target, nowMs, unknown, head);
    const limit =
      maxLagSeconds === undefined
        ? limitOf(thresholdsFor(target, { thresholds }), "lagging")
        : { ms: maxLagSeconds * 1000, blocks: null };
    const isLate = isBeyond(lag, limit) !== false;
    const late = isLate ? ` (limit ${limitText(limit)})` : "";
    const difference = unequal.get(key);
    return {
      ...{ variant: name, tier: ownTier, status },
      healthy: status === "ok" && difference === undefined && !isLate && disputed === null,
      ...{ block_number, lag_seconds, last_advance },
      why: status === "ok" ? (disputed ?? difference ?? `${text}${late}`) : `${status}: ${detail}`,
    };
  }
  const freshest = findFreshest(ofTier);
  const targets = considered.map(judge);
  return {
    generated_at: report.generated_at,
    protocol,
    chain: slug,
    variant: variant ?? null,
    max_lag_seconds: maxLagSeconds ?? thresholds.lagging_seconds,
    healthy: targets.some(({ healthy }) => healthy),
    judged_by: hasReference || considered.some(({ lag_seconds: lag }) => lag !== null) ? "lag" : "advance",
    freshest: freshest && judge(freshest),
    why: explain(targets),
    targets,
  };
}

/** The health of a protocol: healthy if each chain with selected targets is healthy. Null without selected targets. */
export function protocolHealthJson(
  report: Report,
  query: Omit<HealthQuery, "chain">,
): ProtocolHealthJson | null {
  const chains = report.chains.flatMap(({ slug }) => healthJson(report, { ...query, chain: slug }) ?? []);
  const bad = chains.filter(({ healthy }) => !healthy);
  const named = bad.map(({ chain }) => chain).join(", ");
  return chains.length === 0
    ? null
    : {
        generated_at: report.generated_at,
        protocol: query.protocol,
        variant: query.variant ?? null,
        healthy: bad.length === 0,
        why:
          bad.length === 0
            ? `healthy on ${formatCount(chains.length, "chain")}`
            : `not healthy on ${bad.length} of ${formatCount(chains.length, "chain")}: ${named}`,
        chains,
      };
}

/** Why targets are not known to have the same data as another target, by their keys. */
function whyUnequal(report: Report): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const compared of groupBy(
    report.parity,
    ({ probe, protocol, chain }) => `${probe} ${protocol} ${chain}`,
  ).values()) {
    const equal = new Set(
      compared.flatMap(({ result, key, against_key }) => (result === "equal" ? [key, against_key] : [])),
    );
    const unconfirmed = compared.flatMap((one) =>
      [one.key, one.against_key].filter((key) => !equal.has(key)).map((key) => [key, one] as const),
    );
    const different = findDifferences({ parity: compared }).flatMap((one) =>
      differingKeys(one).map((key) => [key, one] as const),
    );
    // The data of a target may both differ and be unconfirmed: the difference comes last, so it is the reason.
    for (const [key, one] of [...unconfirmed, ...different]) {
      reasons.set(key, `${PROBLEMS[one.result]} by probe ${one.probe}: ${variantName(one)} ${one.detail}`);
    }
  }
  return reasons;
}

const PROBLEMS: Readonly<Record<ParityReport["result"], string>> = {
  equal: "the data are equal",
  different: "data differ",
  unknown: "data are not known to be equal",
};

/** The preferred target, else the highest target that is not diverged. */
function findFreshest(targets: readonly TargetReport[]): TargetReport | null {
  const heightOf = (target: TargetReport) => (target.status === "diverged" ? 0 : (target.block_number ?? 0));
  const highest = targets.filter((one) => heightOf(one) > 0).sort((a, b) => heightOf(b) - heightOf(a))[0];
  return targets.find(({ preferred }) => preferred) ?? highest ?? null;
}

/** The reasons of the healthy targets; without a healthy target, the reasons of all targets. */
function explain(targets: readonly HealthTargetJson[]): string {
  const healthy = targets.filter((target) => target.healthy);
  return (healthy.length > 0 ? healthy : targets)
    .map(({ variant, tier, why }) => `${variant} (${tier}): ${why}`)
    .join("; ");
}
