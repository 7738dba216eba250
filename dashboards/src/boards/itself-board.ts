import type { Board } from "./board.ts";
import { type AnyPanel, graph, stat, table } from "./panels.ts";
import { column, overTime } from "./query.ts";

const INSTANCE = 'instance=~"$instance"';
/** Prometheus' own series of whatever job a Synclag is scraped by. */
const SCRAPED = `and on (job, instance) last_over_time(synclag_build_info{${INSTANCE}}[1h])`;

/** Whether Synclag itself is healthy. */
export function itselfBoard(): Board {
  return {
    uid: "synclag-itself",
    title: "Synclag: itself",
    description: "Synclag's own health: poll loop, scrapes, memory and configuration.",
    variables: [{ name: "instance", label: "Instance", metric: "synclag_build_info", choice: "any" }],
    rows: [
      { title: "Now", panels: [...facts(), builds()] },
      { title: "Loop", panels: [tick(), polls(), requests(), skipped(), leader(), store()] },
      { title: "Process", panels: [scrape(), memory(), cpu(), eventLoop(), files(), series()] },
    ],
  };
}

function facts(): readonly AnyPanel[] {
  return [
    stat({
      title: "Up",
      description: "Instances that Prometheus can scrape.",
      unit: "none",
      expr: `sum(up{${INSTANCE}} ${SCRAPED})`,
      steps: [
        [0, "red"],
        [1, "green"],
      ],
    }),
    stat({
      title: "Last tick",
      description: "Time since the scheduler last ticked. It ticks every second.",
      unit: "s",
      expr: `max(time() - synclag_scheduler_last_tick_timestamp_seconds{${INSTANCE}})`,
      steps: [
        [30, "yellow"],
        [60, "red"],
      ],
    }),
    stat({
      title: "Uptime",
      description: "Time since the last start of the process.",
      unit: "s",
      expr: `min(time() - process_start_time_seconds{${INSTANCE}} ${SCRAPED})`,
    }),
    stat({
      title: "Configuration",
      description: "1: the last reload succeeded. 0: it failed, and the previous configuration is in use.",
      unit: "none",
      expr: `min(synclag_config_last_reload_successful{${INSTANCE}})`,
      steps: [
        [0, "red"],
        [1, "green"],
      ],
    }),
    stat({
      title: "Last successful reload",
      description: "Time since the configuration was last loaded successfully.",
      unit: "s",
      expr: `max(time() - synclag_config_last_reload_success_timestamp_seconds{${INSTANCE}})`,
    }),
    stat({
      title: "Starts, last hour",
      description: "Number of process starts within the hour.",
      unit: "none",
      expr: `max(changes(process_start_time_seconds{${INSTANCE}}[1h]) ${SCRAPED})`,
      steps: [[3, "yellow"]],
    }),
  ];
}

function builds(): AnyPanel {
  return table({
    title: "Builds",
    description: "Version and revision of each instance.",
    unit: "none",
    headings: {
      instance: "Instance",
      job: "Job",
      version: "Version",
      revision: "Revision",
      node_version: "Node.js",
      Value: "Up",
    },
    sortBy: "Instance",
  })
    .withTarget(
      column(
        "build",
        `max by (job, instance, version, revision, node_version) (synclag_build_info{${INSTANCE}})`,
      ),
    )
    .height(5)
    .span(24);
}

function tick(): AnyPanel {
  return graph({
    title: "Since the last tick",
    description: "Stays near zero. A rising line means that the poll loop is stuck or the machine sleeps.",
    unit: "s",
  })
    .withTarget(
      overTime(
        `max by (instance) (time() - synclag_scheduler_last_tick_timestamp_seconds{${INSTANCE}})`,
        "{{instance}}",
      ),
    )
    .min(0);
}

function leader(): AnyPanel {
  return graph({
    title: "Leader",
    description: "1 for the replica that leads; one at most. Empty without a store.",
    unit: "none",
  })
    .withTarget(overTime(`max by (instance) (synclag_leader{${INSTANCE}})`, "{{instance}}"))
    .min(0)
    .max(1);
}

function store(): AnyPanel {
  return graph({
    title: "Store",
    description: "1 where the store answers and can be written to. Empty without a store.",
    unit: "none",
  })
    .withTarget(overTime(`min by (instance) (synclag_store_up{${INSTANCE}})`, "{{instance}}"))
    .min(0)
    .max(1);
}

function polls(): AnyPanel {
  return graph({
    title: "Polls in flight and queued",
    description: "A queue that does not drain means that `concurrency` is too low.",
    unit: "none",
  })
    .withTarget(
      overTime(`max by (instance) (synclag_polls_in_flight{${INSTANCE}})`, "{{instance}} in flight"),
    )
    .withTarget(overTime(`max by (instance) (synclag_polls_queued{${INSTANCE}})`, "{{instance}} queued"))
    .min(0);
}

function requests(): AnyPanel {
  return graph({
    title: "Requests to all endpoints",
    description: "Requests per second, and those without a usable answer.",
    unit: "reqps",
  })
    .withTarget(
      overTime(
        `sum by (instance) (rate(synclag_polls_total{${INSTANCE}}[$__rate_interval]))`,
        "{{instance}} sent",
      ),
    )
    .withTarget(
      overTime(
        `sum by (instance) (rate(synclag_poll_failures_total{${INSTANCE}}[$__rate_interval]))`,
        "{{instance}} failed",
      ),
    )
    .min(0);
}

function skipped(): AnyPanel {
  return graph({
    title: "Skipped rounds",
    description: "Rounds per second skipped because the previous round of the indexer was still running.",
    unit: "none",
  })
    .withTarget(
      overTime(
        `sum by (protocol, variant, tier) (rate(synclag_rounds_skipped_total{${INSTANCE}}[$__rate_interval]))`,
        "{{protocol}} {{variant}} {{tier}}",
      ),
    )
    .min(0);
}

function scrape(): AnyPanel {
  return graph({
    title: "Scrape duration",
    description: "Time that Prometheus waits for /metrics. A scrape polls no indexer, so it is short.",
    unit: "s",
  })
    .withTarget(overTime(`scrape_duration_seconds{${INSTANCE}} ${SCRAPED}`, "{{instance}}"))
    .min(0);
}

function memory(): AnyPanel {
  return graph({
    title: "Memory",
    description: "Resident memory and the heap within it. Normally flat, since history is bounded.",
    unit: "bytes",
  })
    .withTarget(overTime(`process_resident_memory_bytes{${INSTANCE}} ${SCRAPED}`, "{{instance}} resident"))
    .withTarget(overTime(`nodejs_heap_size_used_bytes{${INSTANCE}} ${SCRAPED}`, "{{instance}} heap used"))
    .withTarget(overTime(`nodejs_heap_size_total_bytes{${INSTANCE}} ${SCRAPED}`, "{{instance}} heap"))
    .min(0);
}

function cpu(): AnyPanel {
  return graph({
    title: "CPU",
    description: "Share of one core.",
    unit: "percentunit",
  })
    .withTarget(
      overTime(`rate(process_cpu_seconds_total{${INSTANCE}}[$__rate_interval]) ${SCRAPED}`, "{{instance}}"),
    )
    .min(0);
}

function eventLoop(): AnyPanel {
  return graph({
    title: "Event loop lag",
    description:
      "99th percentile of the event loop delay. Poll durations are overestimated by up to as much.",
    unit: "s",
  })
    .withTarget(overTime(`nodejs_eventloop_lag_p99_seconds{${INSTANCE}} ${SCRAPED}`, "{{instance}}"))
    .min(0);
}

function files(): AnyPanel {
  return graph({
    title: "Open files",
    description: "Open file descriptors, including connections, and their limit.",
    unit: "short",
  })
    .withTarget(overTime(`process_open_fds{${INSTANCE}} ${SCRAPED}`, "{{instance}} open"))
    .withTarget(overTime(`process_max_fds{${INSTANCE}} ${SCRAPED}`, "{{instance}} allowed"))
    .min(0);
}

function series(): AnyPanel {
  return graph({
    title: "Series",
    description: "Samples per scrape. Changes only with the configuration.",
    unit: "short",
  })
    .withTarget(overTime(`scrape_samples_scraped{${INSTANCE}} ${SCRAPED}`, "{{instance}}"))
    .min(0);
}
