import { type Alert, type AlertContext, KEEP_FIRING } from "../alert.ts";
import { INSTANCE } from "../promql.ts";
import { DURATION, label, NUMBER, say } from "../text.ts";

const OWN_ALERT = {
  about: "synclag",
  keepFiringFor: KEEP_FIRING,
  dashboard: { uid: "synclag-itself", variables: ["instance"] },
} as const;
const NO_INSTANCE = { uid: "synclag-itself", variables: [] } as const;

/** Scrape targets that were a Synclag within a week, in any job. */
const ONCE_SCRAPED = `and on (${INSTANCE}) last_over_time(synclag_build_info[7d])`;
const TICK = "synclag_scheduler_last_tick_timestamp_seconds";
const SINCE_TICK = `time() - ${TICK}`;
const NETWORK_DOWN = 'synclag_incident_active{scope="network"}';

/** Alerts about Synclag itself. */
export function synclagAlerts({ time }: AlertContext): readonly Alert[] {
  return [...blindAlerts(time("10m")), ...replicaAlerts(), ...processAlerts(time("5m"), time("1h"))];
}

/** Alerts for when nothing is monitored, or everything that Synclag shows is old. */
function blindAlerts(tenMinutes: string): readonly Alert[] {
  // If a scrape fails at least every two minutes, each `for` begins again and again, so no alert about the fleet fires.
  const unsteady = `changes(up[${tenMinutes}]) > 8`;
  const others = `count(synclag_build_info unless on (${INSTANCE}) ${unsteady}) > 0`;
  return [
    ...pagedIfAlone(others, {
      ...OWN_ALERT,
      name: "SynclagDown",
      expr: `(up == 0 or ${unsteady}) ${ONCE_SCRAPED}`,
      for: "3m",
      keepFiringFor: null,
      summary: say`Synclag on ${label("instance")} cannot be scraped`,
      description: say`Prometheus cannot scrape Synclag on ${label("instance")}, or only now and then. Unless another instance is running, no protocol, chain or variant is monitored, and no alert about the fleet can fire.`,
      first: say`curl -s http://${label("instance")}/-/healthy. If there is no reply, start its process again: the end of its log says why it stopped. If there is a reply, the network, a firewall, or the TLS and passwords of --web-config keep Prometheus out. Meanwhile \`synclag check\` with the same chains.yaml shows the status once.`,
      isUnanswered: true,
    }),
    {
      ...OWN_ALERT,
      name: "SynclagAbsent",
      severity: "critical",
      expr: `absent(synclag_build_info)\nunless on ()\n  max(up == 0 ${ONCE_SCRAPED}) == 0`,
      for: "5m",
      keepFiringFor: null,
      summary: ["No Synclag reports to this Prometheus"],
      description: say`Prometheus has no series from any Synclag: Synclag was never scraped here, or is no longer a scrape target. No protocol, chain or variant is monitored.`,
      first:
        "open the targets page of Prometheus. If it lists no Synclag, restore the scrape job, or the labels by which service discovery finds Synclag. Meanwhile `synclag check` with the same chains.yaml shows the status once.",
      isUnanswered: true,
      dashboard: NO_INSTANCE,
    },
    // Synclag replies to scrapes but has stopped polling.
    ...pagedIfAlone(`min(${SINCE_TICK}) <= 60`, {
      ...OWN_ALERT,
      name: "SynclagPollLoopStuck",
      expr: `max by (${INSTANCE}) (${SINCE_TICK}) > 60`,
      for: "1m",
      summary: say`Synclag on ${label("instance")} has stopped polling`,
      description: say`The scheduler of Synclag on ${label("instance")} last ticked ${DURATION} ago instead of every second: everything that it reports about protocols, chains and variants is that old.`,
      first:
        "save its log, then restart it: its state file keeps what it knows. The usual cause is a machine that is suspended or has no CPU time; otherwise report a bug.",
    }),
    // Every host fails at once, and all targets are `unknown`. Replicas on standby do not poll, so they have no such incident.
    ...pagedIfAlone(`count(${TICK}) > count(${NETWORK_DOWN} == 1)`, {
      ...OWN_ALERT,
      name: "SynclagNetworkDown",
      expr: `max by (${INSTANCE}) (${NETWORK_DOWN}) == 1`,
      for: "2m",
      summary: say`Synclag on ${label("instance")} reaches no endpoint`,
      description: say`No indexer and no node on any host replies to Synclag on ${label("instance")}, so its own network is the likely cause. The status of every protocol, chain and variant is unknown; users are most likely not affected.`,
      first:
        "curl -sI https://example.com on its machine. If that fails, check name resolution, proxy, firewall and routes, in this order. If it works, run `synclag check` elsewhere with the same chains.yaml.",
    }),
  ];
}

/** A page if no other instance monitors the fleet, else a ticket. `others`: true while another instance does. */
function pagedIfAlone(others: string, alert: Omit<Alert, "severity">): readonly Alert[] {
  return [
    { ...alert, severity: "critical", expr: `${alert.expr}\nunless on ()\n  ${others}` },
    { ...alert, severity: "warning", expr: `${alert.expr}\nand on ()\n  ${others}` },
  ];
}

/** Alerts about replicas, which share a store. Without a store, Synclag has no metric of these alerts. */
function replicaAlerts(): readonly Alert[] {
  return [
    {
      ...OWN_ALERT,
      name: "SynclagNoLeader",
      severity: "critical",
      expr: "max by (cluster, job) (synclag_leader) == 0",
      for: "1m",
      summary: say`No replica of Synclag leads in job ${label("job")}`,
      description: say`No replica in job ${label("job")} holds the lease. The last leader, if it is alive, keeps polling, but stops polling endpoints with a budget after five minutes. If the last leader dies, no replica takes over, and no protocol, chain or variant is monitored.`,
      first:
        "if SynclagStoreDown fires, too, restore the store: a replica leads again within 15 s. Otherwise compare --store and --cluster of the replicas. Without a store, start one replica with --state.",
      dashboard: NO_INSTANCE,
    },
    {
      ...OWN_ALERT,
      name: "SynclagStoreDown",
      severity: "warning",
      expr: `max by (${INSTANCE}) (synclag_store_up == 0)`,
      for: "2m",
      summary: say`Synclag on ${label("instance")} cannot use its store`,
      description: say`Synclag on ${label("instance")} cannot reach its Redis or Valkey, or cannot write to it. It cannot take over from another replica. If it polls, it stops polling endpoints with a budget after five minutes.`,
      first:
        "read the reason in its log after `Store unreachable`. If all replicas have this alert, the store is at fault (out of memory, read-only or slow), else the network of this replica is at fault.",
    },
  ];
}

function processAlerts(bridged: string, hour: string): readonly Alert[] {
  return [
    {
      ...OWN_ALERT,
      name: "SynclagConfigReloadFailed",
      severity: "warning",
      // The maximum over five minutes, so that a failed scrape does not look like a successful reload.
      expr: `max_over_time(synclag_config_last_reload_successful[${bridged}]) == 0`,
      for: "5m",
      keepFiringFor: null,
      summary: say`Synclag on ${label("instance")} runs with an old configuration`,
      description: say`The last reload on ${label("instance")} failed, and the previous configuration is still in use. Targets that the new file adds are not monitored, and a restart would fail.`,
      first:
        "run `synclag config check` on the file, which names each mistake with its line. Correct the file, and reload by SIGHUP or POST /-/reload; with --watch-config, Synclag reloads by itself.",
    },
    {
      ...OWN_ALERT,
      name: "SynclagRestarting",
      severity: "warning",
      expr: `changes(process_start_time_seconds[${hour}]) > 3\nand on (${INSTANCE})\n  last_over_time(synclag_build_info[${hour}])`,
      for: null,
      summary: say`Synclag on ${label("instance")} keeps restarting`,
      description: say`Synclag on ${label("instance")} started ${NUMBER} times within an hour. After each start it knows only the content of its state file until the endpoints are polled again.`,
      first:
        "read the end of the previous log (`kubectl logs --previous`, `journalctl -u synclag`): its last lines have the reason. If it was killed, compare its memory with the limit. If a liveness probe ended it, it had stopped polling.",
      isUnanswered: true,
    },
    {
      ...OWN_ALERT,
      name: "SynclagWatchdog",
      severity: "none",
      expr: "vector(1)",
      for: null,
      keepFiringFor: null,
      summary: ["The path from Prometheus to this receiver works"],
      description: say`This alert always fires. If it no longer arrives, no other alert of Synclag arrives either.`,
      first: "send it to a dead man's switch, which raises the alarm when it stops arriving.",
      dashboard: NO_INSTANCE,
    },
  ];
}
