import { isProduction } from "../../core/model/fleet.ts";
import { formatDuration } from "../../core/model/text.ts";
import type { TargetJson } from "../api/api-schema.ts";
import { STATUS_WORDS } from "./status.ts";
import type { Trouble } from "./triage.ts";

const TELLING_SECONDS = 60;

/** `subgraph`, with the tier only where it is not the usual one. */
export function describeVariant(target: Pick<TargetJson, "variant" | "tier">): string {
  return isProduction(target) ? target.variant : `${target.variant} (${target.tier})`;
}

/** Of what is fresh beside a target, that which its users can be sent to: from production to no testing URL. */
export function failoverTargets({ target, fresh }: Trouble): readonly TargetJson[] {
  return isProduction(target) ? fresh.filter(isProduction) : fresh;
}

/** `stalled, 41 min behind`; a target that is merely late is told by its lag alone. */
export function describeState(target: TargetJson): string {
  const { phrase } = STATUS_WORDS[target.status];
  const lagMs = notableLagMs(target);
  if (lagMs === null) {
    return phrase;
  }
  const lag = `${formatDuration(lagMs)} behind`;
  return target.status === "lagging" || target.status === "ok" ? lag : `${phrase}, ${lag}`;
}

/** The lag if it says anything: a target that is not ok for another reason need not be told to be 2 s behind. */
export function notableLagMs({ status, lag_seconds }: TargetJson): number | null {
  const isTelling = status === "ok" || status === "lagging" || (lag_seconds ?? 0) >= TELLING_SECONDS;
  return isTelling && lag_seconds !== null ? lag_seconds * 1000 : null;
}

/** `multichain is fresh`, or that nothing is. */
export function describeFresh(trouble: Trouble): string {
  const { fresh, others } = trouble;
  const names = [...new Set(fresh.map(describeVariant))];
  if (names.length === 0) {
    return others === 0 ? "it has no other variant" : "no other variant is fresh";
  }
  const only = failoverTargets(trouble).length === 0 ? "only " : "";
  return `${only}${names.join(" and ")} ${names.length === 1 ? "is" : "are"} fresh`;
}
