import { type IndexerId, isProduction } from "../../core/model/fleet.ts";
import type { TargetReport } from "../../core/model/report.ts";
import { formatDuration } from "../../core/model/text.ts";
import type { TargetProblem } from "./problems.ts";
import { statusWords } from "./status-words.ts";

/** A shorter lag of a target that is neither ok nor lagging is not worth mentioning. */
const NOTABLE_SECONDS = 60;

/** `subgraph`, or `subgraph (testing)`: the tier is named only if it is not production. */
export function variantName(target: Pick<IndexerId, "variant" | "tier">): string {
  return isProduction(target) ? target.variant : `${target.variant} (${target.tier})`;
}

/** `lockup subgraph (production)`. */
export function indexerName({ protocol, variant, tier }: IndexerId): string {
  return `${protocol} ${variant} (${tier})`;
}

/** What the key of a target or an indexer consists of. */
export function idOfKey(key: string): IndexerId {
  const [protocol = "", variant = "", tier = ""] = key.split("/");
  return { protocol, variant, tier };
}

/** The alternatives that the users of a target can be sent to: users of production never to another tier. */
export function failoverTargets({ target, alternatives }: TargetProblem): readonly TargetReport[] {
  return isProduction(target) ? alternatives.filter(isProduction) : alternatives;
}

/** `stalled, 41 min behind`; of a target that is only lagging, its lag. */
export function describeState(target: TargetReport): string {
  const { phrase } = statusWords(target.status);
  const lagMs = notableLagMs(target);
  if (lagMs === null) {
    return phrase;
  }
  const lag = `${formatDuration(lagMs)} behind`;
  return target.status === "lagging" || target.status === "ok" ? lag : `${phrase}, ${lag}`;
}

/** The lag if it is known and worth mentioning, else null. */
export function notableLagMs({ status, lag_seconds }: TargetReport): number | null {
  const isNotable = status === "ok" || status === "lagging" || (lag_seconds ?? 0) >= NOTABLE_SECONDS;
  return isNotable && lag_seconds !== null ? lag_seconds * 1000 : null;
}

/** `multichain is ok`, or that no other variant is; `only subgraph (testing) is ok` where users cannot be sent to it. */
export function describeAlternatives(problem: TargetProblem): string {
  const { alternatives, others } = problem;
  if (alternatives.length === 0) {
    return others === 0 ? "there is no other variant" : "no other variant is ok";
  }
  const targets = failoverTargets(problem);
  const only = targets.length === 0 ? "only " : "";
  const names = [...new Set((targets.length === 0 ? alternatives : targets).map(variantName))];
  return `${only}${names.join(" and ")} ${names.length === 1 ? "is" : "are"} ok`;
}
