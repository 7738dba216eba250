import { STATUSES, type Status, traitsOf } from "../../../src/core/model/statuses.ts";
import { type Alert, type AlertContext, named } from "../alert.ts";
import { besideUsableOnLiveChain, indented, statusMetric, TARGET } from "../promql.ts";
import { FRESH, PERCENTAGE, SPELLS, say, TARGET_NAME } from "../text.ts";
import { CHAIN_ALERT } from "./pair-alerts.ts";

const UNUSABLE = STATUSES.filter((status) => !traitsOf(status).isUsable);
/** The least share of the last hour in which the target was unusable. */
const LEAST_SHARE = 0.25;

/**
 * Alerts about a target that is unusable off and on, or with changing statuses. Each change restarts the `for` of the alerts about
 * one status, so these may never fire. The alert pages if the target has lately had a status that pages.
 */
export function unstableAlerts({ time }: AlertContext): readonly Alert[] {
  const [hour, recently] = [time("1h"), time("15m")];
  const mostOf = (range: string) => `max by (${TARGET}, testnet, status) (${range})`;
  // A status must have come back within the hour, so that one outage with several statuses does not count.
  const unstable = (labels: string) => `sum by (${labels}) (
  ${mostOf(`avg_over_time(${statusMetric(...UNUSABLE)}[${hour}])`)}
) >= ${LEAST_SHARE}
and on (${TARGET})
  ${mostOf(`changes(${statusMetric(...UNUSABLE)}[${hour}])`)} >= 3
unless on (${TARGET})
  max by (${TARGET}) (max_over_time(synclag_maintenance[${hour}])) == 1`;
  const had = (statuses: readonly Status[]) =>
    `max by (${TARGET}) (max_over_time(${statusMetric(...statuses)}[${recently}])) == 1`;
  const paging = UNUSABLE.filter((status) => traitsOf(status).pages);
  const alert = (severity: Alert["severity"], labels: string, condition: string) =>
    named(TARGET_NAME, {
      ...CHAIN_ALERT,
      name: "SynclagIndexerUnstable",
      severity,
      expr: besideUsableOnLiveChain(`${unstable(labels)}\n${condition}`),
      for: null,
      // A failed scrape changes little in an average over an hour.
      keepFiringFor: null,
      summary: say` was not usable for ${PERCENTAGE} of the last hour, off and on`,
      description: say` was not usable for ${PERCENTAGE} of the last hour, off and on:${SPELLS} ${FRESH}`,
      first: "check whether the indexer keeps restarting; move the traffic until it is stable.",
    });
  return [
    alert("byLabels", `${TARGET}, testnet`, `and on (${TARGET})\n  ${had(paging)}`),
    alert(
      "warning",
      // Without the label `testnet`: on a testnet both rules are warnings, and two rules must not raise alerts with equal labels.
      TARGET,
      `and on (${TARGET})\n  ${had(UNUSABLE)}\nunless on (${TARGET}) (\n${indented(had(paging))}\n)`,
    ),
  ];
}
