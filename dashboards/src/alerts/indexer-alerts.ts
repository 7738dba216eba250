import { type Alert, type AlertContext, KEEP_FIRING, named } from "../alert.ts";
import { INDEXER, indented, outsideMaintenance, perTarget, TARGET, withStatus } from "../promql.ts";
import { CHAINS, COMMON_HOST, COMMON_STATUS, EXPLAINED, INDEXER_NAME, STRANDED, say } from "../text.ts";

const INDEXER_ALERT = {
  about: "fleet",
  keepFiringFor: KEEP_FIRING,
  dashboard: { uid: "synclag-endpoint", variables: ["protocol", "variant"] },
} as const;

/** Alerts about an indexer: one for all its affected chains. */
export function indexerAlerts(context: AlertContext): readonly Alert[] {
  return [keyRejected(), ...sharedCause(), targetsRemoved(context)];
}

function keyRejected(): Alert {
  return named(INDEXER_NAME, {
    ...INDEXER_ALERT,
    name: "SynclagKeyRejected",
    severity: "byLabels",
    expr: `count by (${INDEXER}, testnet) (
${indented(outsideMaintenance(withStatus("rejected")))}
)`,
    for: "2m",
    summary: say` rejects our requests on ${CHAINS}`,
    description: say` rejects our requests on ${CHAINS}: the key is missing, invalid or unpaid, or a firewall blocks us. This seldom ends by itself, and until then the lag on these chains is unknown. ${STRANDED}`,
    first:
      "read the provider's error on the page: it says whether the key, a payment or a firewall is the reason.",
  });
}

/** An active incident, for each indexer that it affects. A rejected key has its own alert. */
function sharedCause(): readonly Alert[] {
  return (["critical", "warning"] as const).map((severity) =>
    named(INDEXER_NAME, {
      ...INDEXER_ALERT,
      name: "SynclagSharedCause",
      severity,
      expr: `max by (${INDEXER}) (synclag_incident_targets{severity="${severity}", status!="rejected"}) > 0`,
      for: "1m",
      // A fault that comes and goes returns within minutes.
      keepFiringFor: "10m",
      summary: say` is ${COMMON_STATUS} on ${CHAINS} at once`,
      description: say` is ${COMMON_STATUS} on ${CHAINS} at once${COMMON_HOST}:${EXPLAINED}`,
      first:
        "look for what these chains share: the operator, the last deployment, the database, the host or the budget.",
    }),
  );
}

/** Targets that lately lost their monitoring: their alerts can no longer fire, and nobody would notice. */
function targetsRemoved({ time }: AlertContext): Alert {
  const hour = time("1h");
  return named(INDEXER_NAME, {
    ...INDEXER_ALERT,
    name: "SynclagTargetsRemoved",
    severity: "warning",
    expr: `count by (${INDEXER}) (
  ${perTarget(`max_over_time(synclag_up[${hour}] offset ${hour})`)}
  unless on (${TARGET})
    ${perTarget("synclag_up")}
)
and on ()
  count(synclag_up) > 0`,
    for: "10m",
    summary: say` is no longer monitored on ${CHAINS}`,
    description: say` was still monitored on ${CHAINS} an hour ago. They were removed from chains.yaml, or the indexer is optional and its variable is not set.`,
    first: "compare chains.yaml with its previous version; if the removal was intended, do nothing.",
  });
}
