import type { z } from "zod";
import type { Target } from "./fleet.ts";
import { groupBy } from "./group-by.ts";
import type { Limit } from "./limit.ts";
import { memoize } from "./memoize.ts";
import type { ReportSchema } from "./report-schema.ts";
import { traitsOf } from "./statuses.ts";

/**
 * Severities, the mildest first: a closed list. `calm`: planned, or new and back-filling · `unknown`: nothing is known of it ·
 * `warning`: a person should look at it · `critical`: users have no usable variant.
 */
export const SEVERITIES = ["ok", "calm", "unknown", "warning", "critical"] as const;

export type Severity = (typeof SEVERITIES)[number];

/** The scopes of a shared cause. */
export const CAUSE_SCOPES = ["network", "host", "endpoint", "chain"] as const;
export const INCIDENT_SCOPES = [...CAUSE_SCOPES, "pair", "target"] as const;

/**
 * `cause`: shared by many targets · `pair`: it affects the users of a protocol on a chain · `target`: it affects one target
 * alone.
 */
export const INCIDENT_KINDS = ["cause", "pair", "target"] as const;

type IncidentKind = (typeof INCIDENT_KINDS)[number];

/** Everything known at one instant. All outputs are made from one report, so that they cannot disagree. */
export type Report = ReadonlyDeep<z.infer<typeof ReportSchema>>;
export type TargetReport = Report["targets"][number];
export type ChainSummary = Report["chains"][number];
export type GapReport = Report["gaps"][number];
export type ParityReport = Report["parity"][number];
/**
 * Something that a person should know of: a cause that many targets share, or the trouble of a pair or of a target. Each target
 * in trouble is in one incident.
 */
export type Incident = Report["incidents"][number];
export type BudgetReport = Report["budgets"][number];
export type ReplicaReport = NonNullable<Report["replica"]>;

/** The lists of a report, as far as they concern one chain. */
interface ChainLists {
  readonly targets: readonly TargetReport[];
  readonly gaps: readonly GapReport[];
  readonly parity: readonly ParityReport[];
}

/** The part of a report that concerns one chain. */
export interface ChainReport extends ChainSummary, ChainLists {}

/** What one chain contributes to a report. */
export interface ChainPart extends ChainLists {
  readonly summary: ChainSummary;
}

export type TargetId = Pick<TargetReport, "key" | "protocol" | "variant" | "tier" | "chain" | "chain_id">;

export type ReadonlyDeep<T> = T extends object ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> } : T;

/** How a report names a target. */
export const targetId = memoize(
  ({ key, protocol, variant, tier, chain, chainId }: Target): TargetId => ({
    key,
    protocol,
    variant,
    tier,
    chain,
    chain_id: chainId,
  }),
);

/** Whether the target back-fills and was never at the head, so that nobody relies on it yet. */
export function isFirstSync({ served, status }: Pick<TargetReport, "served" | "status">): boolean {
  return status === "syncing" && !served;
}

/** Whether the target has ended and, as expected, has no height any more. */
export function isGone({ ended, status }: Pick<TargetReport, "ended" | "status">): boolean {
  return ended !== null && !traitsOf(status).hasHeight;
}

/** The thresholds of a target: its indexer's, else its chain's. */
export function thresholdsFor(
  { thresholds }: Pick<TargetReport, "thresholds">,
  chain: Pick<ChainSummary, "thresholds">,
): ChainSummary["thresholds"] {
  return thresholds ?? chain.thresholds;
}

export function limitOf(thresholds: ChainSummary["thresholds"], level: "lagging" | "critical"): Limit {
  const [seconds, blocks] = [thresholds[`${level}_seconds`], thresholds[`${level}_blocks`]];
  return { ms: seconds === null ? null : seconds * 1_000, blocks };
}

/** The lag of a target, in the shape of a limit, for comparison. */
export function lagOf({ lag_blocks: blocks, lag_seconds: seconds }: TargetReport): Limit {
  return { ms: seconds === null ? null : seconds * 1_000, blocks };
}

/** The parts of a report, one for each chain. */
export const chainReports = memoize((report: Report): readonly ChainReport[] => {
  const ofChain = <One extends { readonly chain: string }>(all: readonly One[]) => {
    const groups = groupBy(all, ({ chain }) => chain);
    return (slug: string): readonly One[] => groups.get(slug) ?? [];
  };
  const [targets, gaps, parity] = [ofChain(report.targets), ofChain(report.gaps), ofChain(report.parity)];
  return report.chains.map((chain) => ({
    ...chain,
    targets: targets(chain.slug),
    gaps: gaps(chain.slug),
    parity: parity(chain.slug),
  }));
});

/** `scope subject`: identifies an incident across reports. */
export function incidentKey({ scope, subject }: Pick<Incident, "scope" | "subject">): string {
  return `${scope} ${subject}`;
}

/** The kind, the scope and the subject of an incident, from its key. */
export function incidentOfKey(key: string): Pick<Incident, "kind" | "scope" | "subject"> {
  const [scope = "", ...subject] = key.split(" ");
  return { kind: kindOf(scope), scope: scope as Incident["scope"], subject: subject.join(" ") };
}

function kindOf(scope: string): IncidentKind {
  return scope === "pair" || scope === "target" ? scope : "cause";
}

/** The shared causes among the incidents. Texts describe a cause instead of the targets that it explains. */
export function sharedCauses(incidents: readonly Incident[]): readonly Incident[] {
  return incidents.filter(({ scope }) => kindOf(scope) === "cause");
}
