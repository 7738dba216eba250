import { fires, metric, type RuleTest, silent, statuses, target } from "./rule-test.ts";

const INSTANCE = { instance: "synclag:9855", job: "synclag" };
const ITSELF = "synclag-itself?var-instance=synclag:9855";

/** Alerts of Synclag itself. */
export function synclagTests(): readonly RuleTest[] {
  return [...gone(), ...loopStuck(), ...networkDown(), ...replicas(), ...reloadFailed(), watchdog()];
}

function gone(): readonly RuleTest[] {
  const down = {
    severity: "critical",
    about: "synclag",
    labels: INSTANCE,
    summary: "Synclag on synclag:9855 cannot be scraped",
    description:
      "Prometheus cannot scrape Synclag on synclag:9855. Unless another instance is running, no protocol, chain or variant is monitored, and no alert about the fleet can fire.",
    dashboard: ITSELF,
  };
  return [
    {
      name: "SynclagDown fires for a process that was a Synclag, not for other jobs, and resolves; nothing is absent then",
      series: [
        metric("up", INSTANCE, "1x9 0x19 1x60"),
        metric("synclag_build_info", INSTANCE, "1x9 stale _x18 1x60"),
        metric("up", { job: "node", instance: "other:9100" }, 0),
      ],
      expect: [
        ...silent("SynclagDown", "9m", "11m"),
        fires("SynclagDown", "15m", down),
        ...silent("SynclagAbsent", "25m"),
        ...silent("SynclagDown", "32m"),
      ],
    },
    {
      name: "SynclagDown is a ticket while another Synclag is there, and resolves; it is silent for a failed scrape",
      series: [
        metric("up", INSTANCE, "1x9 0x19 1x60"),
        metric("synclag_build_info", INSTANCE, "1x9 stale _x18 1x60"),
        metric("up", { ...INSTANCE, instance: "b" }, "1x9 0x1 1x90"),
        metric("synclag_build_info", { ...INSTANCE, instance: "b" }, 1),
      ],
      expect: [
        ...silent("SynclagDown", "11m"),
        fires("SynclagDown", "15m", { ...down, severity: "warning" }),
        ...silent("SynclagDown", "32m"),
      ],
    },
    {
      name: "SynclagAbsent is silent while one Synclag of two is there",
      series: [
        metric("synclag_build_info", INSTANCE, "1x9 stale"),
        metric("synclag_build_info", { ...INSTANCE, instance: "b" }, 1),
      ],
      expect: silent("SynclagAbsent", "20m"),
    },
    {
      name: "SynclagAbsent fires where no Synclag was ever scraped, or the job is gone, and resolves",
      series: [metric("synclag_build_info", INSTANCE, "_x19 1x60")],
      expect: [
        ...silent("SynclagAbsent", "4m"),
        fires("SynclagAbsent", "6m", {
          ...down,
          labels: {},
          summary: "No Synclag reports to this Prometheus",
          description:
            "Prometheus has no series from any Synclag: it was never scraped here, or is no longer a scrape target. No protocol, chain or variant is monitored.",
          dashboard: "synclag-itself",
        }),
        ...silent("SynclagDown", "6m"),
        ...silent("SynclagAbsent", "30m"),
      ],
    },
  ];
}

function networkDown(): readonly RuleTest[] {
  const alert = "SynclagNetworkDown";
  const down = {
    severity: "critical",
    about: "synclag",
    labels: INSTANCE,
    summary: "Synclag on synclag:9855 reaches no endpoint",
    description:
      "No indexer and no node on any host answers Synclag on synclag:9855, so its own network is the likely cause. The status of every protocol, chain and variant is unknown; that does not mean that users are affected.",
    dashboard: ITSELF,
  };
  const incident = metric(
    "synclag_incident_active",
    { ...INSTANCE, scope: "network", subject: "all" },
    "_x5 1x19 stale",
  );
  const unknown = ["subgraph", "multichain"].flatMap((variant) =>
    statuses(target(variant), "ok 5, unknown 20, ok"),
  );
  return [
    {
      name: "SynclagNetworkDown fires instead of an alert for each target, and resolves",
      series: [
        metric("synclag_scheduler_last_tick_timestamp_seconds", INSTANCE, "0+60x90"),
        // A replica that stands by.
        metric("synclag_build_info", { ...INSTANCE, instance: "b" }, 1),
        incident,
        ...unknown,
      ],
      expect: [
        ...silent(alert, "6m"),
        fires(alert, "8m", down),
        ...silent("SynclagEndpointDown", "20m"),
        ...silent("SynclagNoVariantOk", "20m"),
        ...silent(alert, "35m"),
      ],
    },
    {
      name: "SynclagNetworkDown is a ticket where another Synclag has its network, and resolves",
      series: [
        metric("synclag_scheduler_last_tick_timestamp_seconds", INSTANCE, "0+60x90"),
        metric("synclag_scheduler_last_tick_timestamp_seconds", { ...INSTANCE, instance: "b" }, "0+60x90"),
        incident,
      ],
      expect: [fires(alert, "8m", { ...down, severity: "warning" }), ...silent(alert, "35m")],
    },
    {
      name: "SynclagNetworkDown is silent for a host that is down",
      series: [metric("synclag_incident_active", { scope: "host", subject: "gateway.example" }, 1)],
      expect: silent(alert, "20m"),
    },
  ];
}

function replicas(): readonly RuleTest[] {
  const other = { ...INSTANCE, instance: "b" };
  return [
    {
      name: "SynclagNoLeader fires where no replica of a job leads, and resolves; a take-over is silent",
      series: [
        metric("synclag_leader", INSTANCE, "1x4 0x60"),
        metric("synclag_leader", other, "0x5 1x9 0x9 1x60"),
      ],
      expect: [
        ...silent("SynclagNoLeader", "5m", "7m", "14m"),
        fires("SynclagNoLeader", "20m", {
          severity: "critical",
          about: "synclag",
          labels: { job: "synclag" },
          summary: "No replica of Synclag leads in job synclag",
          description:
            "No replica in job synclag holds the lease. The last leader polls on if it is alive, and draws nothing on budgets; if it dies, nobody takes over, and no protocol, chain or variant is monitored.",
          dashboard: "synclag-itself",
        }),
        ...silent("SynclagNoLeader", "40m"),
      ],
    },
    {
      name: "SynclagNoLeader is silent while one replica of two leads, and where no store is shared",
      series: [
        metric("synclag_leader", INSTANCE, 1),
        metric("synclag_leader", other, 0),
        metric("synclag_build_info", { job: "alone", instance: "c" }, 1),
      ],
      expect: silent("SynclagNoLeader", "20m"),
    },
    {
      name: "SynclagStoreDown is silent for a restart of the store, and where none is shared",
      series: [
        metric("synclag_store_up", INSTANCE, "1x4 0x1 1x60"),
        metric("synclag_build_info", { job: "alone", instance: "c" }, 1),
      ],
      expect: silent("SynclagStoreDown", "6m", "8m"),
    },
    {
      name: "SynclagStoreDown names each replica that cannot use the store, and resolves",
      series: [metric("synclag_store_up", INSTANCE, "1x4 0x9 1x60"), metric("synclag_store_up", other, 1)],
      expect: [
        ...silent("SynclagStoreDown", "6m"),
        fires("SynclagStoreDown", "10m", {
          severity: "warning",
          about: "synclag",
          labels: INSTANCE,
          summary: "Synclag on synclag:9855 cannot use its store",
          description:
            "Synclag on synclag:9855 cannot reach its Redis or Valkey, or cannot write to it. It cannot take over from another replica, and endpoints with a budget are polled for five minutes at most.",
          dashboard: ITSELF,
        }),
        ...silent("SynclagStoreDown", "30m"),
      ],
    },
  ];
}

function loopStuck(): readonly RuleTest[] {
  const alert = "SynclagPollLoopStuck";
  return [
    {
      name: "SynclagPollLoopStuck fires when ticks stay away, and resolves",
      series: [metric("synclag_scheduler_last_tick_timestamp_seconds", INSTANCE, "0+60x9 540x19 1800+60x60")],
      expect: [
        ...silent(alert, "9m", "10m"),
        fires(alert, "15m", {
          severity: "critical",
          about: "synclag",
          labels: INSTANCE,
          summary: "Synclag on synclag:9855 has stopped polling",
          description:
            "The scheduler of Synclag on synclag:9855 last ticked 6m 0s ago instead of every second: what it reports about protocols, chains and variants is that old.",
          dashboard: ITSELF,
        }),
        ...silent(alert, "40m"),
      ],
    },
    {
      name: "SynclagPollLoopStuck is a ticket while another Synclag polls, and resolves",
      series: [
        metric("synclag_scheduler_last_tick_timestamp_seconds", INSTANCE, "0+60x9 540x19 1800+60x60"),
        metric("synclag_scheduler_last_tick_timestamp_seconds", { ...INSTANCE, instance: "b" }, "0+60x90"),
      ],
      expect: [
        fires(alert, "15m", {
          severity: "warning",
          about: "synclag",
          labels: INSTANCE,
          summary: "Synclag on synclag:9855 has stopped polling",
          description:
            "The scheduler of Synclag on synclag:9855 last ticked 6m 0s ago instead of every second: what it reports about protocols, chains and variants is that old.",
          dashboard: ITSELF,
        }),
        ...silent(alert, "40m"),
      ],
    },
    {
      name: "SynclagPollLoopStuck is silent for a scrape that was made just before the tick",
      series: [metric("synclag_scheduler_last_tick_timestamp_seconds", INSTANCE, "0+60x60")],
      expect: silent(alert, "30m"),
    },
  ];
}

function reloadFailed(): readonly RuleTest[] {
  const alert = "SynclagConfigReloadFailed";
  return [
    {
      name: "SynclagConfigReloadFailed fires for a reload that stays refused, and resolves",
      series: [metric("synclag_config_last_reload_successful", INSTANCE, "1x9 0x29 1x60")],
      expect: [
        ...silent(alert, "12m"),
        fires(alert, "25m", {
          severity: "warning",
          about: "synclag",
          labels: INSTANCE,
          summary: "Synclag on synclag:9855 runs with an old configuration",
          description:
            "The last reload on synclag:9855 failed, and the previous configuration is still in use. What the new one adds is not monitored, and a restart would fail.",
          dashboard: ITSELF,
        }),
        ...silent(alert, "42m"),
      ],
    },
    {
      name: "SynclagConfigReloadFailed is silent for a mistake that is mended at once, and while scrapes fail",
      series: [metric("synclag_config_last_reload_successful", INSTANCE, "1x9 0x2 1x9 _x60")],
      expect: silent(alert, "13m", "18m", "26m"),
    },
  ];
}

/** The alert that counts starts over an hour. */
export function restartingTests(): readonly RuleTest[] {
  const alert = "SynclagRestarting";
  const alive = metric("synclag_build_info", INSTANCE, 1);
  return [
    {
      name: "SynclagRestarting fires at the fourth start within an hour, and resolves an hour later",
      series: [alive, metric("process_start_time_seconds", INSTANCE, "1x9 2x6 3x6 4x6 5x200")],
      expect: [
        ...silent(alert, "28m"),
        fires(alert, "37m", {
          severity: "warning",
          about: "synclag",
          labels: INSTANCE,
          summary: "Synclag on synclag:9855 keeps restarting",
          description:
            "Synclag on synclag:9855 started 4 times within an hour. After each start it knows only what its state file holds until the endpoints are polled again.",
          dashboard: ITSELF,
        }),
        ...silent(alert, "105m"),
      ],
    },
    {
      name: "SynclagRestarting is silent for a deployment, and for other programs",
      series: [
        alive,
        metric("process_start_time_seconds", INSTANCE, "1x9 2x200"),
        metric("process_start_time_seconds", { job: "other", instance: "b" }, "1+1x100"),
      ],
      expect: silent(alert, "30m"),
    },
  ];
}

function watchdog(): RuleTest {
  return {
    name: "The watchdog fires always",
    series: [],
    expect: [
      fires("Watchdog", "1m", {
        severity: "none",
        about: "synclag",
        labels: {},
        summary: "The path from Prometheus to this receiver works",
        description:
          "This alert always fires. Send it to a dead man's switch: when it no longer arrives, no other alert of Synclag would arrive either.",
        dashboard: "synclag-itself",
      }),
    ],
  };
}
