import type { Status } from "../../../src/core/model/report.ts";
import type { Alert, AlertContext } from "../alert.ts";
import {
  indented,
  outsideMaintenance,
  PAIR,
  perTarget,
  statusMetric,
  TARGET,
  threshold,
  withStatus,
} from "../promql.ts";
import type { Settings } from "../settings.ts";
import { BEHIND, FRESH, say, TARGET_NAME } from "../text.ts";
import { TARGET_ALERT } from "./target-alert.ts";

const DOWN: readonly Status[] = ["unreachable", "not_found"];

/**
 * No usable answer: clients see errors, and switch by themselves where they can. So it pages only where users are
 * served from it and no other variant; SynclagNoVariantOk counts the other tiers as well.
 */
export function endpointDown({ settings }: AlertContext): readonly Alert[] {
  const rule = {
    ...TARGET_ALERT,
    name: "SynclagEndpointDown",
    for: "5m",
    summary: [...TARGET_NAME, " gives no usable answer"],
  } as const;
  const causes = say`. Possible causes: the network, the host, or a deleted deployment. It was ${BEHIND} behind. ${FRESH}`;
  return [
    {
      ...rule,
      severity: "critical",
      expr: outsideMaintenance(downAndAlone(settings)),
      description: [
        ...TARGET_NAME,
        " gives no usable answer, and no other variant that users are served from is fresh",
        ...causes,
      ],
    },
    {
      ...rule,
      severity: "warning",
      expr: outsideMaintenance(`${withStatus(DOWN)}
unless on (${TARGET}) (
${indented(downAndAlone(settings))}
)`),
      description: [...TARGET_NAME, " gives no usable answer", ...causes],
    },
  ];
}

/**
 * Targets that users are served from and are down, where no other such variant is ok, only moderately late, throttled, or waiting
 * for a halted chain.
 */
export function downAndAlone({ servingTier }: Settings): string {
  const served = `tier="${servingTier}", `;
  return `${withStatus(DOWN, served)}
unless on (${PAIR})
  max by (${PAIR}) (${statusMetric(["ok", "throttled", "chain_halted"], served)}) == 1
unless on (${PAIR}) (
  ${withStatus(["lagging", "syncing"], served)}
  and on (${TARGET})
    ${perTarget("synclag_lag_seconds")} < ${threshold("critical")}
)`;
}
