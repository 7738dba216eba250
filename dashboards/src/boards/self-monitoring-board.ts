import { INSTANCE } from "../promql.ts";
import { type Board, RELOADS, SELECTED_JOBS, TIER } from "./board.ts";
import { type AnyPanel, graph, headed, type Line, redBelow, rising, stat, table, words } from "./panels.ts";

const OF = `${SELECTED_JOBS}, instance=~"$instance"`;
const OF_TIER = `${OF}, tier=~"$tier"`;
/** Restricts Prometheus' own series of scrape targets to those of a Synclag, whatever its job is called. */
const SCRAPED = `and on (${INSTANCE}) last_over_time(synclag_build_info{${OF}}[1h])`;
const TICK = `time() - synclag_scheduler_last_tick_timestamp_seconds{${OF}}`;

/** The dashboard about Synclag itself. */
export function selfMonitoringBoard(): Board {
  return {
    uid: "synclag-itself",
    title: "Synclag: self-monitoring",
    description: "Synclag's own health: poll loop, scrapes, memory and configuration.",
    variables: [
      { name: "instance", label: "Instance", metric: "synclag_build_info", choice: "any" },
      { ...TIER, metric: "synclag_polls_total", choice: "any or none" },
    ],
    annotations: [RELOADS],
    rows: [
      { title: "Now", panels: now() },
      { title: "Loop", panels: LOOP.map(panel) },
      { title: "Process", panels: PROCESS.map(panel) },
    ],
  };
}

function now(): readonly AnyPanel[] {
  return [
    stat(
      "Up",
      "Instances that Prometheus can scrape.",
      "suffix: up",
      `sum(up{${OF}} ${SCRAPED})`,
      redBelow(1),
    ),
    stat(
      "Last tick",
      "Time since the scheduler last ticked. It ticks every second.",
      "s",
      `max(${TICK})`,
      rising(30, 60),
    ),
    stat(
      "Uptime",
      "Time since the last start of the process.",
      "s",
      `min(time() - process_start_time_seconds{${OF}} ${SCRAPED})`,
    ),
    stat(
      "Configuration",
      "Whether the last reload succeeded. If it failed, the previous configuration is in use.",
      "none",
      `min(synclag_config_last_reload_successful{${OF}})`,
      redBelow(1),
    ).mappings([words({ 0: "reload failed", 1: "up to date" })]),
    stat(
      "Last successful reload",
      "Time since the configuration was last loaded successfully.",
      "s",
      `max(time() - synclag_config_last_reload_success_timestamp_seconds{${OF}})`,
    ),
    stat(
      "Starts",
      "Number of process starts in the chosen time.",
      "none",
      `max(changes(process_start_time_seconds{${OF}}[$__range]) ${SCRAPED})`,
      [[3, "yellow"]],
    ),
    table(
      "Builds",
      "Version and revision of each instance.",
      {
        build: `max by (${INSTANCE}, version, revision, node_version) (synclag_build_info{${OF}})`,
      },
      { ...headed("instance", "cluster", "job", "version", "revision"), node_version: "Node.js" },
      { unit: "none", sortBy: "Instance" },
    ).height(5),
  ];
}

type Graph = readonly [title: string, description: string, unit: string, ...lines: Line[]];

function panel([title, description, unit, ...lines]: Graph) {
  return graph(title, description, unit, ...lines).min(0);
}

const each = (metric: string) => `${metric}{${OF}} ${SCRAPED}`;

const LOOP: readonly Graph[] = [
  [
    "Since the last tick",
    "Stays near zero. A rising line means that the poll loop is stuck or the machine sleeps.",
    "s",
    [`max by (instance) (${TICK})`, "{{instance}}"],
  ],
  [
    "Polls in flight and queued",
    "A queue that does not drain means that `concurrency` is too low.",
    "none",
    [`max by (instance) (synclag_polls_in_flight{${OF}})`, "{{instance}} in flight"],
    [`max by (instance) (synclag_polls_queued{${OF}})`, "{{instance}} queued"],
  ],
  [
    "Requests to all endpoints",
    "Requests per second, and requests without a usable reply.",
    "reqps",
    [`sum by (instance) (rate(synclag_polls_total{${OF_TIER}}[$__rate_interval]))`, "{{instance}} sent"],
    [
      `sum by (instance) (rate(synclag_poll_failures_total{${OF_TIER}, reason!="budget"}[$__rate_interval]))`,
      "{{instance}} failed",
    ],
  ],
  [
    "Skipped rounds",
    "Rounds per second skipped because the previous round of the indexer was still running.",
    "none",
    [
      `sum by (protocol, variant, tier) (rate(synclag_rounds_skipped_total{${OF_TIER}}[$__rate_interval]))`,
      "{{protocol}} {{variant}} {{tier}}",
    ],
  ],
  [
    "Leader",
    "1 for the replica that leads. At most one leads. Empty without a store.",
    "none",
    [`max by (instance) (synclag_leader{${OF}})`, "{{instance}}"],
  ],
  [
    "Store",
    "1 if the store replies and can be written to. Empty without a store.",
    "none",
    [`min by (instance) (synclag_store_up{${OF}})`, "{{instance}}"],
  ],
];

const PROCESS: readonly Graph[] = [
  [
    "Scrape duration",
    "Time that Prometheus waits for /metrics. A scrape polls no indexer, so it is short.",
    "s",
    [each("scrape_duration_seconds"), "{{instance}}"],
  ],
  [
    "Memory",
    "Resident memory and the heap in it. Normally flat, because the history that is kept is bounded.",
    "bytes",
    [each("process_resident_memory_bytes"), "{{instance}} resident"],
    [each("nodejs_heap_size_used_bytes"), "{{instance}} heap used"],
    [each("nodejs_heap_size_total_bytes"), "{{instance}} heap"],
  ],
  [
    "CPU",
    "Share of one core.",
    "percentunit",
    [`rate(process_cpu_seconds_total{${OF}}[$__rate_interval]) ${SCRAPED}`, "{{instance}}"],
  ],
  [
    "Open files",
    "Open file descriptors, including connections, and their limit.",
    "short",
    [each("process_open_fds"), "{{instance}} open"],
    [each("process_max_fds"), "{{instance}} allowed"],
  ],
];
