import { type Alert, type AlertContext, type AlertGroup, BRIDGE } from "../alert.ts";
import { DURATION, label, NUMBER, say } from "../text.ts";

const OWN_ALERT = {
  about: "synclag",
  keepFiringFor: null,
  dashboard: { uid: "synclag-itself", variables: ["instance"] },
} as const;

/** Whichever scrape job it is called by: a target that has been a Synclag within six hours. */
const DEAD = "up == 0 and on (job, instance) last_over_time(synclag_build_info[6h])";

/** Who watches the watcher. */
export function synclagAlerts(context: AlertContext): AlertGroup {
  return {
    name: "synclag-itself",
    alerts: [
      ...gone(),
      ...loopStuck(),
      ...networkDown(),
      reloadFailed(context),
      restarting(context),
      watchdog(),
    ],
  };
}

/**
 * A Synclag that sees nothing: a page where no other one sees, and a ticket where another still watches the fleet.
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
        description: say`Prometheus no longer reaches Synclag on ${label("instance")}: unless another one does, nobody watches how far any protocol, chain or variant is behind, nor which is fresh, and no other alert of the fleet can fire.`,
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
        "Prometheus has no series of any Synclag: it was never scraped here, or is no longer a scrape target. Nobody watches how far any protocol, chain or variant is behind, nor which is fresh.",
      ],
      dashboard: { uid: "synclag-itself", variables: [] },
    },
  ];
}

/** It answers a scrape, and has stopped to poll: every number that it serves grows old. */
function loopStuck(): readonly Alert[] {
  const sinceTick = "time() - synclag_scheduler_last_tick_timestamp_seconds";
  return blind(
    {
      name: "SynclagPollLoopStuck",
      expr: `max by (job, instance) (${sinceTick}) > 60`,
      for: "1m",
      keepFiringFor: BRIDGE,
      summary: say`Synclag on ${label("instance")} answers, but no longer polls`,
      description: say`The scheduler of Synclag on ${label("instance")} last ticked ${DURATION} ago, and should do so each second: what it says of any protocol, chain or variant, how far it is behind and which is fresh, is as old.`,
    },
    `min(${sinceTick}) <= 60`,
  );
}

/** Every host fails it at once, so it blames its own network, and calls all targets unknown. */
function networkDown(): readonly Alert[] {
  const incident = 'synclag_incident_active{scope="network"}';
  return blind(
    {
      name: "SynclagNetworkDown",
      expr: `max by (job, instance) (${incident}) == 1`,
      for: "2m",
      keepFiringFor: BRIDGE,
      summary: say`Synclag on ${label("instance")} reaches nobody: its own network is the likely cause`,
      description: say`No indexer and no node answers Synclag on ${label("instance")}, of any host. It knows nothing of any protocol, chain or variant, how far it is behind or which is fresh: that is no sign that users notice anything.`,
    },
    `count(synclag_build_info) > count(${incident} == 1)`,
  );
}

function reloadFailed({ time }: AlertContext): Alert {
  return {
    ...OWN_ALERT,
    name: "SynclagConfigReloadFailed",
    severity: "warning",
    // The best of five minutes: a scrape that fails is not taken for a reload that worked.
    expr: `max_over_time(synclag_config_last_reload_successful[${time("5m")}]) == 0`,
    for: "5m",
    summary: say`Synclag on ${label("instance")} runs on an old configuration`,
    description: say`The last reload on ${label("instance")} was refused, and the configuration before goes on. A protocol, chain or variant that the new one adds is not watched, and whether it is behind or fresh is not known. A restart would fail.`,
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
    description: say`Synclag on ${label("instance")} was started ${NUMBER} times within an hour. Between two starts it knows only what its state file remembers of how far each protocol, chain and variant is behind, and which is fresh.`,
  };
}

/** Fires always: whoever receives it raises the alarm when it stops to come. */
function watchdog(): Alert {
  return {
    ...OWN_ALERT,
    name: "Watchdog",
    severity: "none",
    expr: "vector(1)",
    for: null,
    summary: ["The path from Prometheus to this receiver works"],
    description: [
      "This alert fires always. Send it to a dead man's switch, which raises the alarm when it stays away: then no alert of any protocol, chain or variant that is behind would arrive either, whichever is fresh.",
    ],
    dashboard: { uid: "synclag-itself", variables: [] },
  };
}
