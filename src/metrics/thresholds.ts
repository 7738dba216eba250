import { memoize } from "../core/model/memoize.ts";
import { type ChainSummary, type Report, type TargetReport, thresholdsFor } from "../core/model/report.ts";

const LEVELS = ["lagging", "critical", "stalled"] as const;

/** Reads the thresholds of a target in one unit. A level without a threshold in this unit is left out. */
export function thresholdsIn(unit: "seconds" | "blocks") {
  // Most targets share the thresholds of their chain.
  const valuesOf = memoize((thresholds: ChainSummary["thresholds"]) => {
    const known: Readonly<Record<string, number | null>> = thresholds;
    return LEVELS.flatMap((level) => {
      const value = known[`${level}_${unit}`] ?? null;
      return value === null ? [] : [[level, value] as const];
    });
  });
  return ({ chains }: Report) => {
    const bySlug = new Map(chains.map((chain) => [chain.slug, chain]));
    return (target: TargetReport): readonly (readonly [level: string, value: number])[] => {
      const chain = bySlug.get(target.chain);
      return chain === undefined ? [] : valuesOf(thresholdsFor(target, chain));
    };
  };
}
