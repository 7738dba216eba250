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
/** Every status that a shared cause can lead to, except `rejected`, which has an alert of its own. */
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

/** One fault that affects many chains at once, reported once. */
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
    summary: [...INDEXER_NAME, " rejects our API key"],
    description: [
      ...INDEXER_NAME,
      ...say` rejects our key on ${NUMBER} chains: it is missing, invalid or unpaid, and this does not recover by itself. How far it is behind is not known meanwhile; the dashboard shows which variants are still fresh.`,
    ],
  };
}

/**
 * An active incident, once for each indexer that it affects: its subject names the indexer, or it is one of a host and most of
 * the indexer's targets are in trouble. Critical where a third of them have alerts that page.
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
    // Longer than the alerts that it inhibits, so that the last ones to recover are not sent when they are over.
    keepFiringFor: "10m",
    summary: [...INDEXER_NAME, ": one cause on many chains"],
    description: [
      ...INDEXER_NAME,
      ...say`: ${PERCENTAGE} of its chains are in trouble at once, so look for one common cause.${INCIDENTS}`,
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

/** Targets that were monitored and no longer are: their alerts can no longer fire, and nobody would notice. */
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
    summary: [...INDEXER_NAME, ...say`: ${NUMBER} chains are no longer monitored`],
    description: [
      ...INDEXER_NAME,
      ...say` was monitored on ${NUMBER} more chains an hour ago: they were removed from chains.yaml, or an optional indexer is skipped because its variable is not set. How far they are behind is unknown; the dashboard shows which variants are still fresh.`,
    ],
  };
}
