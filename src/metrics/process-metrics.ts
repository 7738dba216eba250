import { family, labelsText, type MetricFamily, type Sample, single } from "./exposition.ts";

/** The metrics of the process, whether or not it polls. */
export const PROCESS_METRICS: readonly MetricFamily[] = [
  single(
    "synclag_leader",
    "1 if this replica holds the lease of the leader; absent without a store",
    ({ replica }) => replica?.isLeader ?? null,
  ),
  single(
    "synclag_store_up",
    "1 if the store answers and can be written to; absent without a store",
    ({ replica }) => replica?.isStoreUp ?? null,
  ),
  single(
    "synclag_log_lines_lost_total",
    "Lines of the log that could not be written",
    ({ lostLogLines }) => lostLogLines,
  ),
  single(
    "synclag_http_errors_total",
    "HTTP requests answered with 500 because of a bug; the log has the stack",
    ({ httpErrors }) => httpErrors,
  ),
  family(
    "synclag_notifications_total",
    "Messages to the webhook, by result",
    ["result"],
    ({ notifications }) =>
      Object.entries(notifications).map(([result, count]): Sample => [labelsText({ result }), count]),
  ),
  single(
    "synclag_config_last_reload_successful",
    "1 if the last load of the configuration succeeded",
    ({ reload }) => reload.successful,
  ),
  single(
    "synclag_config_last_reload_success_timestamp_seconds",
    "Time of the last successful load of the configuration",
    ({ reload }) => reload.lastSuccessMs / 1000,
  ),
];
