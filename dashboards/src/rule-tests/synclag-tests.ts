import { fires, metric, type RuleTest, silent, statuses, target } from "./rule-test.ts";

const INSTANCE = { instance: "synclag:9855", job: "synclag" };
const ITSELF = "synclag-itself?var-instance=synclag:9855";

/** Alerts of Synclag itself. */
export function synclagTests(): readonly RuleTest[] {
  return [...gone(), ...loopStuck(), ...networkDown(), ...reloadFailed(), watchdog()];
}

function gone(): readonly RuleTest[] {
  const down = {
    severity: "critical",
    about: "synclag",
    labels: INSTANCE,
    summary: "Synclag on synclag:9855 cannot be scraped",
    description:
      "Prometheus no longer reaches Synclag on synclag:9855: unless another one does, nobody watches how far any protocol, chain or variant is behind, nor which is fresh, and no other alert of the fleet can fire.",
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
            "Prometheus has no series of any Synclag: it was never scraped here, or is no longer a scrape target. Nobody watches how far any protocol, chain or variant is behind, nor which is fresh.",
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
    summary: "Synclag on synclag:9855 reaches nobody: its own network is the likely cause",
    description:
      "No indexer and no node answers Synclag on synclag:9855, of any host. It knows nothing of any protocol, chain or variant, how far it is behind or which is fresh: that is no sign that users notice anything.",
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
      series: [metric("synclag_build_info", INSTANCE, 1), incident, ...unknown],
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
        metric("synclag_build_info", INSTANCE, 1),
        metric("synclag_build_info", { ...INSTANCE, instance: "b" }, 1),
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
          summary: "Synclag on synclag:9855 answers, but no longer polls",
          description:
            "The scheduler of Synclag on synclag:9855 last ticked 6m 0s ago, and should do so each second: what it says of any protocol, chain or variant, how far it is behind and which is fresh, is as old.",
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
          summary: "Synclag on synclag:9855 answers, but no longer polls",
          description:
            "The scheduler of Synclag on synclag:9855 last ticked 6m 0s ago, and should do so each second: what it says of any protocol, chain or variant, how far it is behind and which is fresh, is as old.",
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
          summary: "Synclag on synclag:9855 runs on an old configuration",
          description:
            "The last reload on synclag:9855 was refused, and the configuration before goes on. A protocol, chain or variant that the new one adds is not watched, and whether it is behind or fresh is not known. A restart would fail.",
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
            "Synclag on synclag:9855 was started 4 times within an hour. Between two starts it knows only what its state file remembers of how far each protocol, chain and variant is behind, and which is fresh.",
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
          "This alert fires always. Send it to a dead man's switch, which raises the alarm when it stays away: then no alert of any protocol, chain or variant that is behind would arrive either, whichever is fresh.",
        dashboard: "synclag-itself",
      }),
    ],
  };
}
