import { type Alert, type AlertContext, BRIDGE, named } from "../alert.ts";
import { INDEXER, indented, outsideMaintenance, perTarget, TARGET, withStatus } from "../promql.ts";
import { CHAINS, COMMON_HOST, COMMON_STATUS, EXPLAINED, INDEXER_NAME, STRANDED, say } from "../text.ts";

const INDEXER_ALERT = {
  about: "fleet",
  keepFiringFor: BRIDGE,
  dashboard: { uid: "synclag-endpoint", variables: ["protocol", "variant"] },
} as const;

/** One fault that affects many chains at once, reported once. */
export function indexerAlerts(context: AlertContext): readonly Alert[] {
  return [keyRejected(), ...sharedCause(), targetsRemoved(context)];
}

function keyRejected(): Alert {
  return named(INDEXER_NAME, {
    ...INDEXER_ALERT,
    name: "SynclagKeyRejected",
    severity: "served",
    expr: `count by (${INDEXER}, testnet) (
${indented(outsideMaintenance(withStatus("rejected")))}
)`,
    for: "2m",
    summary: say` refuses us on ${CHAINS}`,
    description: say` refuses us on ${CHAINS}: the key is missing, invalid or unpaid, or a firewall blocks us. This seldom ends by itself, and until then the lag there is unknown. ${STRANDED}`,
    first:
      "read the words of the provider on the page: they say whether it is the key, a payment or a firewall.",
  });
}

/** An active incident, for each indexer that it affects; an incident of a rejected key has its own alert. */
function sharedCause(): readonly Alert[] {
  return (["critical", "warning"] as const).map((severity) =>
    named(INDEXER_NAME, {
      ...INDEXER_ALERT,
      name: "SynclagSharedCause",
      severity,
      expr: `max by (${INDEXER}) (synclag_incident_targets{severity="${severity}", status!="rejected"}) > 0`,
      for: "1m",
      // It returns within minutes where the fault comes and goes.
      keepFiringFor: "10m",
      summary: say` is ${COMMON_STATUS} on ${CHAINS} at once`,
      description: say` is ${COMMON_STATUS} on ${CHAINS} at once${COMMON_HOST}:${EXPLAINED}`,
      first:
        "look for what these chains share: the operator, the last deployment, the database, the host or the budget.",
    }),
  );
}

/** Targets that were monitored and no longer are: their alerts can no longer fire, and nobody would notice. */
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
    description: say` was monitored on ${CHAINS} more than now an hour ago. They were removed from chains.yaml, or the indexer is optional and its variable is not set.`,
    first: "compare chains.yaml with its last version; if the removal was intended, do nothing.",
  });
}
