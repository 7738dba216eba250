import type { Status } from "../../core/model/report.ts";
import type { TargetJson } from "../api/api-schema.ts";

type Named = Pick<TargetJson, "protocol" | "variant" | "tier">;

/** Where a chain's page is. */
export function chainPath(slug: string): string {
  return `/chains/${encodeURIComponent(slug)}`;
}

/** The fragment of a target on its chain's page. */
export function targetAnchor({ protocol, variant, tier }: Named): string {
  return [protocol, variant, tier].map(encodeURIComponent).join("-");
}

/** Where a protocol on a chain is told as JSON. */
export function pairPath(protocol: string, chain: string): string {
  return `/api/v1/status/${encodeURIComponent(protocol)}/${encodeURIComponent(chain)}`;
}

/** Where the past of a protocol on a chain is told as JSON. */
export function historyPath(protocol: string, chain: string): string {
  return `/api/v1/history/${encodeURIComponent(protocol)}/${encodeURIComponent(chain)}`;
}

/** The page with all budgets and the plan. */
export const PLAN_PATH = "/plan";

/** What every status means. */
export const STATUSES_PATH = "/docs/statuses";

/** Where the runbook of each alert is, under its name. */
export const RUNBOOKS_PATH = "/docs/runbooks";

/** The paragraph on one status. */
export function statusPath(status: Status): string {
  return `${STATUSES_PATH}#${status}`;
}
