import { type Alert, type AlertContext, BRIDGE } from "../alert.ts";
import type { DashboardLink } from "../text.ts";

/** The chain's dashboard, filtered by the protocol of the alert. */
export const CHAIN_DASHBOARD: DashboardLink = { uid: "synclag-chain", variables: ["chain", "protocol"] };

/** What all alerts of a target have in common. */
export const TARGET_ALERT = {
  about: "fleet",
  keepFiringFor: BRIDGE,
  dashboard: CHAIN_DASHBOARD,
} as const;

/** A rule that pages for the tier that users are served from, and one that opens a ticket for the others. */
export function pagedWhereServed(
  { settings }: AlertContext,
  alert: (selector: string) => Omit<Alert, "severity">,
): readonly Alert[] {
  const tier = settings.servingTier;
  return [
    { ...alert(`tier="${tier}", `), severity: "critical" },
    { ...alert(`tier!="${tier}", `), severity: "warning" },
  ];
}
