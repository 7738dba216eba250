import type { MetricFamily } from "./family.ts";

/** What the daemon says of itself. */
export const DAEMON_METRICS: readonly MetricFamily[] = [
  {
    name: "synclag_scheduler_last_tick_timestamp_seconds",
    type: "gauge",
    help: "When the scheduler last ticked; it does so each second",
    labels: [],
    samples: ({ loop }) => (loop.lastTickMs === null ? [] : [["", loop.lastTickMs / 1000]]),
  },
  {
    name: "synclag_polls_in_flight",
    type: "gauge",
    help: "Polls under way",
    labels: [],
    samples: ({ loop }) => [["", loop.inFlight]],
  },
  {
    name: "synclag_polls_queued",
    type: "gauge",
    help: "Polls that wait for a free place",
    labels: [],
    samples: ({ loop }) => [["", loop.queued]],
  },
  {
    name: "synclag_config_last_reload_successful",
    type: "gauge",
    help: "1 if the configuration was last read without a problem",
    labels: [],
    samples: ({ reload }) => [["", reload.successful ? 1 : 0]],
  },
  {
    name: "synclag_config_last_reload_success_timestamp_seconds",
    type: "gauge",
    help: "When the configuration was last read without a problem",
    labels: [],
    samples: ({ reload }) => [["", reload.lastSuccessMs / 1000]],
  },
];
