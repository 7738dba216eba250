import type { Status } from "../../../src/core/model/report.ts";
import { type Alert, type AlertContext, type AlertGroup, BRIDGE } from "../alert.ts";
import {
  INDEXER,
  indented,
  outsideMaintenance,
  perTarget,
  statusMetric,
  TARGET,
  threshold,
  withStatus,
} from "../promql.ts";
import type { Settings } from "../settings.ts";
import { INCIDENTS, INDEXER_NAME, NUMBER, PERCENTAGE, say } from "../text.ts";
import { downAndAlone } from "./endpoint-down.ts";

const INDEXER_ALERT = {
  about: "fleet",
  keepFiringFor: BRIDGE,
  dashboard: { uid: "synclag-endpoint", variables: ["protocol", "variant"] },
} as const;

/** Statuses whose own alerts page. */
const PAGING: readonly Status[] = ["stalled", "failed", "diverged", "missing"];
/** Everything that a shared cause can do to an indexer, but for a refused key, which has an alert of its own. */
const TROUBLED: readonly Status[] = [
  "throttled",
  "not_found",
  "unreachable",
  "missing",
  "failed",
  "diverged",
  "stalled",
  "lagging",
];

/** One fault that shows on many chains at once, told once. */
export function indexerAlerts(context: AlertContext): AlertGroup {
  return {
    name: "synclag-shared-causes",
    alerts: [keyRejected(), ...sharedCause(context), targetsVanished(context)],
  };
}

function keyRejected(): Alert {
  return {
    ...INDEXER_ALERT,
    name: "SynclagKeyRejected",
    severity: "critical",
    expr: `count by (${INDEXER}) (
${indented(outsideMaintenance(withStatus(["rejected"])))}
)`,
    for: "2m",
    summary: ["The key of ", ...INDEXER_NAME, " is rejected"],
    description: [
      ...INDEXER_NAME,
      ...say` refuses our key on ${NUMBER} chains: it is missing, wrong, or unpaid. It does not repair itself. How far it is behind cannot be told meanwhile; the dashboard shows which variants are still fresh.`,
    ],
  };
}

/**
 * An incident that the daemon has found, for each indexer that it has struck: one whose subject names the indexer, or
 * one of a host, and most of the indexer's targets are in trouble. Critical where a third of them have alerts that page.
 */
function sharedCause(context: AlertContext): readonly Alert[] {
  const { settings } = context;
  const struck = `max by (${INDEXER}) (
${indented(subjectAsLabels())}
) == 1
or
  ${shareOf(TROUBLED)} > 0.5
  and on ()
    max(synclag_incident_active{scope="host"}) == 1`;
  const paging = `${sharePaging(settings)} > 0.33`;
  const inMaintenance = `min by (${INDEXER}) (synclag_maintenance or on (${TARGET}) 0 * synclag_up) == 1`;
  const rule = {
    ...INDEXER_ALERT,
    name: "SynclagSharedCause",
    for: "1m",
    // Longer than the alerts that it inhibits: those that recover last must not be sent when they are over.
    keepFiringFor: "10m",
    summary: [...INDEXER_NAME, ": one cause on many chains"],
    description: [
      ...INDEXER_NAME,
      ...say`: ${PERCENTAGE} of its chains are in trouble at once, so look for one cause and not for many.${INCIDENTS}`,
    ],
  } as const;
  const value = `${shareOf(TROUBLED)} > 0.25
and on (${INDEXER}) (
${indented(struck)}
)`;
  return [
    {
      ...rule,
      severity: "critical",
      expr: `${value}
and on (${INDEXER})
  ${paging}
unless on (${INDEXER})
  ${inMaintenance}`,
    },
    {
      ...rule,
      severity: "warning",
      expr: `${value}
unless on (${INDEXER})
  ${paging}
unless on (${INDEXER})
  ${inMaintenance}`,
    },
  ];
}

/** `airdrops/multichain/production` taken apart, so that it can be matched with the indexer's targets. */
function subjectAsLabels(): string {
  const parts = [
    { name: "protocol", pattern: "([^/]+)/[^/]+/[^/]+" },
    { name: "variant", pattern: "[^/]+/([^/]+)/[^/]+" },
    { name: "tier", pattern: "[^/]+/[^/]+/([^/]+)" },
  ];
  return parts.reduce(
    (inner, { name, pattern }) => `label_replace(${inner}, "${name}", "$1", "subject", "${pattern}")`,
    'synclag_incident_active{scope="endpoint"}',
  );
}

/** Share of an indexer's targets that have one of these statuses. */
function shareOf(statuses: readonly Status[]): string {
  return `avg by (${INDEXER}) (${perTarget(statusMetric(statuses))})`;
}

/** Share of an indexer's targets that have an alert of their own that pages. */
function sharePaging(settings: Settings): string {
  const selector = `tier="${settings.servingTier}", `;
  return `count by (${INDEXER}) (
  ${withStatus(PAGING, selector)}
  or
  ${withStatus(["lagging"], selector)}
  and on (${TARGET})
    ${perTarget("synclag_lag_seconds")} > ${threshold("critical")}
  or
${indented(downAndAlone(settings))}
) / count by (${INDEXER}) (${perTarget("synclag_up")})`;
}

/** What was watched and is no more: an alert of it would never fire again, and nobody would miss it. */
function targetsVanished({ time }: AlertContext): Alert {
  const hour = time("1h");
  return {
    ...INDEXER_ALERT,
    name: "SynclagTargetsVanished",
    severity: "warning",
    expr: `count by (${INDEXER}) (
  ${perTarget(`max_over_time(synclag_up[${hour}] offset ${hour})`)}
  unless on (${TARGET})
    ${perTarget("synclag_up")}
)
and on ()
  count(synclag_up) > 0`,
    for: "10m",
    summary: [...INDEXER_NAME, ...say`: ${NUMBER} chains are no longer watched`],
    description: [
      ...INDEXER_NAME,
      ...say` was watched on ${NUMBER} more chains an hour ago. Were they removed from chains.yaml, or is an optional indexer skipped because its variable is not set? How far they are behind is unknown; the dashboard shows which variants are still fresh.`,
    ],
  };
}
