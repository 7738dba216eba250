import { type Alert, type AlertContext, BRIDGE } from "../alert.ts";
import { DURATION, label, NUMBER, say } from "../text.ts";

const OWN_ALERT = {
  about: "synclag",
  keepFiringFor: null,
  dashboard: { uid: "synclag-itself", variables: ["instance"] },
} as const;

/** In whichever scrape job: a target that has been a Synclag within six hours. */
const DEAD = "up == 0 and on (job, instance) last_over_time(synclag_build_info[6h])";

/** Alerts about Synclag itself. */
export function synclagAlerts(context: AlertContext): readonly Alert[] {
  return [
    ...gone(),
    ...loopStuck(),
    ...networkDown(),
    noLeader(),
    storeDown(),
    reloadFailed(context),
    restarting(context),
    watchdog(),
  ];
}

/**
 * A Synclag that monitors nothing: a page where no other instance does, and a ticket where another still monitors the fleet.
 * `others` is empty where there is none.
 */
function blind(alert: Omit<Alert, "severity" | "about" | "dashboard">, others: string): readonly Alert[] {
  return [
    { ...OWN_ALERT, ...alert, severity: "critical", expr: `${alert.expr}\nunless on ()\n  ${others}` },
    { ...OWN_ALERT, ...alert, severity: "warning", expr: `${alert.expr}\nand on ()\n  ${others}` },
  ];
}

function gone(): readonly Alert[] {
  return [
    ...blind(
      {
        name: "SynclagDown",
        expr: DEAD,
        for: "3m",
        keepFiringFor: null,
        summary: say`Synclag on ${label("instance")} cannot be scraped`,
        description: say`Prometheus cannot scrape Synclag on ${label("instance")}. Unless another instance is running, no protocol, chain or variant is monitored, and no alert about the fleet can fire.`,
        first: "look whether its process runs, and at the end of its log.",
      },
      "count(synclag_build_info) > 0",
    ),
    {
      ...OWN_ALERT,
      name: "SynclagAbsent",
      severity: "critical",
      expr: `absent(synclag_build_info)\nunless on ()\n  max(${DEAD}) == 0`,
      for: "5m",
      summary: ["No Synclag reports to this Prometheus"],
      description: [
        "Prometheus has no series from any Synclag: it was never scraped here, or is no longer a scrape target. No protocol, chain or variant is monitored.",
      ],
      first: "look at the scrape configuration: is Synclag among the targets of Prometheus?",
      dashboard: { uid: "synclag-itself", variables: [] },
    },
  ];
}

/** It answers scrapes but has stopped polling, so everything that it reports gets old. */
function loopStuck(): readonly Alert[] {
  const sinceTick = "time() - synclag_scheduler_last_tick_timestamp_seconds";
  return blind(
    {
      name: "SynclagPollLoopStuck",
      expr: `max by (job, instance) (${sinceTick}) > 60`,
      for: "1m",
      keepFiringFor: BRIDGE,
      summary: say`Synclag on ${label("instance")} has stopped polling`,
      description: say`The scheduler of Synclag on ${label("instance")} last ticked ${DURATION} ago instead of every second: what it reports about protocols, chains and variants is that old.`,
      first: "restart Synclag; its state file keeps what it knows.",
    },
    `min(${sinceTick}) <= 60`,
  );
}

/** Every host fails at once, so its own network is the likely cause and all targets are `unknown`. */
function networkDown(): readonly Alert[] {
  const incident = 'synclag_incident_active{scope="network"}';
  return blind(
    {
      name: "SynclagNetworkDown",
      expr: `max by (job, instance) (${incident}) == 1`,
      for: "2m",
      keepFiringFor: BRIDGE,
      summary: say`Synclag on ${label("instance")} reaches no endpoint`,
      description: say`No indexer and no node on any host answers Synclag on ${label("instance")}, so its own network is the likely cause. The status of every protocol, chain and variant is unknown; that does not mean that users are affected.`,
      first: "check the network of the machine: name resolution, proxy and firewall.",
    },
    // Replicas that stand by see no network.
    `count(synclag_scheduler_last_tick_timestamp_seconds) > count(${incident} == 1)`,
  );
}

/** Of those that share a store; a Synclag without one has no `synclag_leader`. */
function noLeader(): Alert {
  return {
    ...OWN_ALERT,
    name: "SynclagNoLeader",
    severity: "critical",
    expr: "max by (job) (synclag_leader) == 0",
    for: "1m",
    keepFiringFor: BRIDGE,
    summary: say`No replica of Synclag leads in job ${label("job")}`,
    description: say`No replica in job ${label("job")} holds the lease. The last leader keeps polling if it is alive, but draws nothing on budgets; if it dies, nobody takes over, and no protocol, chain or variant is monitored.`,
    first: "look at the store: can the replicas reach it?",
    dashboard: { uid: "synclag-itself", variables: [] },
  };
}

function storeDown(): Alert {
  return {
    ...OWN_ALERT,
    name: "SynclagStoreDown",
    severity: "warning",
    expr: "max by (job, instance) (synclag_store_up == 0)",
    for: "2m",
    keepFiringFor: BRIDGE,
    summary: say`Synclag on ${label("instance")} cannot use its store`,
    description: say`Synclag on ${label("instance")} cannot reach its Redis or Valkey, or cannot write to it. It cannot take over from another replica, and endpoints with a budget are polled for five minutes at most.`,
    first: "check the store and the way to it.",
  };
}

function reloadFailed({ time }: AlertContext): Alert {
  return {
    ...OWN_ALERT,
    name: "SynclagConfigReloadFailed",
    severity: "warning",
    // The maximum of five minutes, so that a failed scrape does not look like a reload that worked.
    expr: `max_over_time(synclag_config_last_reload_successful[${time("5m")}]) == 0`,
    for: "5m",
    summary: say`Synclag on ${label("instance")} runs with an old configuration`,
    description: say`The last reload on ${label("instance")} failed, and the previous configuration is still in use. What the new one adds is not monitored, and a restart would fail.`,
    first: "run `synclag config check` on the file; it names each mistake with its line.",
  };
}

function restarting({ time }: AlertContext): Alert {
  const hour = time("1h");
  return {
    ...OWN_ALERT,
    name: "SynclagRestarting",
    severity: "warning",
    expr: `changes(process_start_time_seconds[${hour}]) > 3\nand on (job, instance)\n  last_over_time(synclag_build_info[${hour}])`,
    for: null,
    keepFiringFor: BRIDGE,
    summary: say`Synclag on ${label("instance")} keeps restarting`,
    description: say`Synclag on ${label("instance")} started ${NUMBER} times within an hour. After each start it knows only what its state file holds until the endpoints are polled again.`,
    first: "read the end of the previous log: its last line has the reason.",
  };
}

/** Always fires: its receiver raises the alarm when it stops arriving. */
function watchdog(): Alert {
  return {
    ...OWN_ALERT,
    name: "SynclagWatchdog",
    severity: "none",
    expr: "vector(1)",
    for: null,
    summary: ["The path from Prometheus to this receiver works"],
    description: [
      "This alert always fires. Send it to a dead man's switch: when it no longer arrives, no other alert of Synclag would arrive either.",
    ],
    first: "nothing to do.",
    dashboard: { uid: "synclag-itself", variables: [] },
  };
}
