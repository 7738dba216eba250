import { type Labels, metric, pages, type RuleTest, ticket } from "./rule-test.ts";

const A = { job: "synclag", instance: "synclag:9855" };
const B = { ...A, instance: "b" };
const alive = (labels: Labels) => metric("synclag_build_info", labels, 1);
const TICK = "synclag_scheduler_last_tick_timestamp_seconds";

/** Alerts of Synclag itself. */
export function synclagTests(): readonly RuleTest[] {
  return [...gone(), ...stuck(), ...networkDown(), ...replicas(), ...reloadFailed()].map((test) => ({
    ...test,
    about: "synclag",
  }));
}

function gone(): readonly RuleTest[] {
  const died = [metric("up", A, "1x9 0x19 1x60"), metric("synclag_build_info", A, "1x9 stale _x18 1x60")];
  return [
    {
      name: "SynclagDown pages for a process that was a Synclag, not for other jobs, and resolves; nothing is absent then",
      series: [...died, metric("up", { job: "node", instance: "other:9100" }, 0)],
      fires: { "11m": [], "15m": [pages("SynclagDown", A, {})], "25m": [pages("SynclagDown", A)], "32m": [] },
    },
    {
      name: "SynclagDown is a ticket while another Synclag is there, and silent for a failed scrape",
      series: [...died, metric("up", B, "1x9 0x1 1x90"), alive(B)],
      fires: { "11m": [], "15m": [ticket("SynclagDown", A)], "32m": [] },
    },
    {
      name: "SynclagAbsent is silent while one Synclag of two is there",
      series: [metric("synclag_build_info", A, "1x9 stale"), alive(B)],
      fires: { "20m": [] },
    },
    {
      name: "SynclagAbsent fires where no Synclag was ever scraped, or the job is gone, and resolves",
      series: [metric("synclag_build_info", A, "_x19 1x60")],
      fires: { "4m": [], "6m": [pages("SynclagAbsent", {})], "30m": [] },
    },
    {
      name: "The watchdog fires always",
      series: [alive(A)],
      fires: {},
      queries: [
        {
          expr: 'count by (severity) (ALERTS{alertname="SynclagWatchdog", alertstate="firing"})',
          at: "1m",
          samples: [{ labels: '{severity="none"}', value: 1 }],
        },
      ],
    },
  ];
}

function stuck(): readonly RuleTest[] {
  const ticks = metric(TICK, A, "0+60x9 540x19 1800+60x60");
  const loop = "SynclagPollLoopStuck";
  return [
    {
      name: `${loop} pages when ticks stay away, and resolves`,
      series: [alive(A), ticks],
      fires: { "10m": [], "15m": [pages(loop, A, { value: "6m 0s" })], "40m": [] },
    },
    {
      name: `${loop} is a ticket while another Synclag polls`,
      series: [alive(A), ticks, metric(TICK, B, "0+60x90")],
      fires: { "15m": [ticket(loop, A)], "40m": [] },
    },
    {
      name: `${loop} is silent for a scrape that was made just before the tick`,
      series: [alive(A), metric(TICK, A, "0+60x60")],
      fires: { "30m": [] },
    },
  ];
}

function networkDown(): readonly RuleTest[] {
  const incident = metric(
    "synclag_incident_active",
    { ...A, scope: "network", subject: "all" },
    "_x5 1x19 stale",
  );
  const ticks = metric(TICK, A, "0+60x90");
  return [
    {
      name: "SynclagNetworkDown pages, and resolves; a replica that stands by sees no network",
      series: [alive(A), alive(B), ticks, incident],
      fires: { "6m": [], "8m": [pages("SynclagNetworkDown", A)], "35m": [] },
    },
    {
      name: "SynclagNetworkDown is a ticket where another Synclag has its network",
      series: [alive(A), ticks, metric(TICK, B, "0+60x90"), incident],
      fires: { "8m": [ticket("SynclagNetworkDown", A)], "35m": [] },
    },
    {
      name: "SynclagNetworkDown is silent for a host that is down",
      series: [alive(A), metric("synclag_incident_active", { scope: "host", subject: "gateway.example" }, 1)],
      fires: { "20m": [] },
    },
  ];
}

function replicas(): readonly RuleTest[] {
  return [
    {
      name: "SynclagNoLeader fires where no replica of a job leads, whatever another cluster does, and resolves; a take-over is silent",
      series: [
        alive(A),
        metric("synclag_leader", { ...A, cluster: "us" }, 1),
        metric("synclag_leader", A, "1x4 0x60"),
        metric("synclag_leader", B, "0x5 1x9 0x9 1x60"),
      ],
      fires: {
        "7m": [],
        "14m": [],
        "20m": [pages("SynclagNoLeader", { job: "synclag" })],
        "40m": [],
      },
    },
    {
      name: "SynclagNoLeader is silent while one replica of two leads, and where no store is shared",
      series: [
        metric("synclag_leader", A, 1),
        metric("synclag_leader", B, 0),
        alive({ job: "alone", instance: "c" }),
      ],
      fires: { "20m": [] },
    },
    {
      name: "SynclagStoreDown is silent for a restart of the store, and names each replica that cannot use it",
      series: [
        alive(A),
        metric("synclag_store_up", A, "1x4 0x1 1x13 0x9 1x60"),
        metric("synclag_store_up", B, 1),
      ],
      fires: { "6m": [], "8m": [], "25m": [ticket("SynclagStoreDown", A)], "50m": [] },
    },
  ];
}

function reloadFailed(): readonly RuleTest[] {
  const alert = "SynclagConfigReloadFailed";
  return [
    {
      name: `${alert} fires for a reload that stays refused, and resolves`,
      series: [alive(A), metric("synclag_config_last_reload_successful", A, "1x9 0x29 1x60")],
      fires: { "12m": [], "25m": [ticket(alert, A)], "42m": [] },
    },
    {
      name: `${alert} is silent for a mistake that is mended at once, and while scrapes fail`,
      series: [alive(A), metric("synclag_config_last_reload_successful", A, "1x9 0x2 1x9 _x60")],
      fires: { "13m": [], "18m": [], "26m": [] },
    },
  ];
}

/** The alert that counts starts over an hour. */
export function restartingTests(): readonly RuleTest[] {
  const starts = (labels: Labels, values: string) => metric("process_start_time_seconds", labels, values);
  return [
    {
      name: "SynclagRestarting fires at the fourth start within an hour, and resolves an hour later",
      about: "synclag",
      series: [alive(A), starts(A, "1x9 2x6 3x6 4x6 5x200")],
      fires: { "28m": [], "35m": [ticket("SynclagRestarting", A)], "105m": [] },
    },
    {
      name: "SynclagRestarting is silent for a deployment, and for other programs",
      about: "synclag",
      series: [alive(A), starts(A, "1x9 2x200"), starts({ job: "other", instance: "b" }, "1+1x100")],
      fires: { "28m": [] },
    },
  ];
}
