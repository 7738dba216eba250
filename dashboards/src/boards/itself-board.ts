import type { Board } from "./board.ts";
import { type AnyPanel, graph, stat, table } from "./panels.ts";
import { column, overTime } from "./query.ts";

const INSTANCE = 'instance=~"$instance"';
/** Prometheus' own series of whatever job a Synclag is scraped by. */
const SCRAPED = `and on (job, instance) last_over_time(synclag_build_info{${INSTANCE}}[1h])`;

/** Whether the watcher itself is well. */
export function itselfBoard(): Board {
  return {
    uid: "synclag-itself",
    title: "Synclag: itself",
    description: "Synclag's own health: its loop, its scrapes, its memory, its configuration.",
    variables: [{ name: "instance", label: "Instance", metric: "synclag_build_info", choice: "any" }],
    rows: [
      { title: "Now", panels: [...facts(), builds()] },
      { title: "Loop", panels: [tick(), polls(), requests(), skipped()] },
      { title: "Process", panels: [scrape(), memory(), cpu(), eventLoop(), files(), series()] },
    ],
  };
}

function facts(): readonly AnyPanel[] {
  return [
    stat({
      title: "Up",
      description: "Synclags that Prometheus reaches.",
      unit: "none",
      expr: `sum(up{${INSTANCE}} ${SCRAPED})`,
      steps: [
        [0, "red"],
        [1, "green"],
      ],
    }),
    stat({
      title: "Last tick",
      description: "How long ago the scheduler last ticked; it does so each second.",
      unit: "s",
      expr: `max(time() - synclag_scheduler_last_tick_timestamp_seconds{${INSTANCE}})`,
      steps: [
        [30, "yellow"],
        [60, "red"],
      ],
    }),
    stat({
      title: "Running since",
      description: "Time since the last start.",
      unit: "s",
      expr: `min(time() - process_start_time_seconds{${INSTANCE}} ${SCRAPED})`,
    }),
    stat({
      title: "Configuration",
      description: "1 while the last reload was accepted; 0: the configuration before it goes on.",
      unit: "none",
      expr: `min(synclag_config_last_reload_successful{${INSTANCE}})`,
      steps: [
        [0, "red"],
        [1, "green"],
      ],
    }),
    stat({
      title: "Last accepted reload",
      description: "Time since the configuration was last read without a problem.",
      unit: "s",
      expr: `max(time() - synclag_config_last_reload_success_timestamp_seconds{${INSTANCE}})`,
    }),
    stat({
      title: "Starts, last hour",
      description: "How often the process was started within the hour.",
      unit: "none",
      expr: `max(changes(process_start_time_seconds{${INSTANCE}}[1h]) ${SCRAPED})`,
      steps: [[3, "yellow"]],
    }),
  ];
}

function builds(): AnyPanel {
  return table({
    title: "Builds",
    description: "Which build runs where.",
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
    description: "It stays near zero. Where it climbs, the loop is stuck, or the machine sleeps.",
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

function polls(): AnyPanel {
  return graph({
    title: "Polls under way and waiting",
    description: "What waits for a free place: a queue that stays is a concurrency that is too small.",
    unit: "none",
  })
    .withTarget(
      overTime(`max by (instance) (synclag_polls_in_flight{${INSTANCE}})`, "{{instance}} under way"),
    )
    .withTarget(overTime(`max by (instance) (synclag_polls_queued{${INSTANCE}})`, "{{instance}} waiting"))
    .min(0);
}

function requests(): AnyPanel {
  return graph({
    title: "Requests of all indexers",
    description: "Requests a second, and those of them that gave no usable answer.",
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
    title: "Rounds skipped",
    description: "Ticks a second that found the former round of an indexer still under way.",
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
    description: "How long Prometheus waits for /metrics. No scrape asks an indexer, so it is short.",
    unit: "s",
  })
    .withTarget(overTime(`scrape_duration_seconds{${INSTANCE}} ${SCRAPED}`, "{{instance}}"))
    .min(0);
}

function memory(): AnyPanel {
  return graph({
    title: "Memory",
    description: "Resident memory, and the heap within it. It is flat in good health: history is bounded.",
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
    description: "99th percentile of how late the event loop is: polls are timed that much too long.",
    unit: "s",
  })
    .withTarget(overTime(`nodejs_eventloop_lag_p99_seconds{${INSTANCE}} ${SCRAPED}`, "{{instance}}"))
    .min(0);
}

function files(): AnyPanel {
  return graph({
    title: "Open files",
    description: "File descriptors, connections included, and how many the system allows.",
    unit: "short",
  })
    .withTarget(overTime(`process_open_fds{${INSTANCE}} ${SCRAPED}`, "{{instance}} open"))
    .withTarget(overTime(`process_max_fds{${INSTANCE}} ${SCRAPED}`, "{{instance}} allowed"))
    .min(0);
}

function series(): AnyPanel {
  return graph({
    title: "Series",
    description: "Samples of a scrape. It changes with the configuration, and with nothing else for long.",
    unit: "short",
  })
    .withTarget(overTime(`scrape_samples_scraped{${INSTANCE}} ${SCRAPED}`, "{{instance}}"))
    .min(0);
}
