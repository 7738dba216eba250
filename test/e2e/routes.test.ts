import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { runProgram } from "./support/program.ts";

const ALERTMANAGER = fileURLToPath(new URL("../../deploy/alertmanager.yml", import.meta.url));
const GRAFANA = fileURLToPath(new URL("../../dashboards/grafana-alerts/contact-points.yml", import.meta.url));

const WEDNESDAY_NOON = new Date("2026-03-04T12:00:00Z");
const WEDNESDAY_NIGHT = new Date("2026-03-04T03:00:00Z");
const SUNDAY_NOON = new Date("2026-03-08T12:00:00Z");

/** Who hears of an alert with these labels; `nobody` where no message is sent. */
interface Row {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly atNoon: string;
  readonly atNightOrOnSunday: string;
}

const TABLE: readonly Row[] = [
  {
    alert: "a critical one of a chain",
    labels: { severity: "critical", chain: "base", protocol: "airdrops" },
    atNoon: "on-call",
    atNightOrOnSunday: "on-call",
  },
  {
    alert: "a critical one of Synclag",
    labels: { severity: "critical", about: "synclag" },
    atNoon: "on-call",
    atNightOrOnSunday: "on-call",
  },
  {
    alert: "a critical one of a testnet",
    labels: { severity: "critical", chain: "arbitrum-sepolia", protocol: "airdrops" },
    atNoon: "tickets",
    atNightOrOnSunday: "nobody",
  },
  {
    alert: "a warning",
    labels: { severity: "warning", chain: "base", protocol: "airdrops" },
    atNoon: "tickets",
    atNightOrOnSunday: "nobody",
  },
  {
    alert: "a warning of a testnet",
    labels: { severity: "warning", chain: "sepolia" },
    atNoon: "tickets",
    atNightOrOnSunday: "nobody",
  },
  {
    alert: "a record",
    labels: { severity: "info", chain: "base" },
    atNoon: "nobody",
    atNightOrOnSunday: "nobody",
  },
  {
    alert: "a record of a testnet",
    labels: { severity: "info", chain: "base-sepolia" },
    atNoon: "nobody",
    atNightOrOnSunday: "nobody",
  },
  {
    alert: "the watchdog",
    labels: { severity: "none", alertname: "Watchdog" },
    atNoon: "dead-man",
    atNightOrOnSunday: "dead-man",
  },
];

/** A route of either program, with its time intervals filled in. */
interface Route {
  readonly receiver: string;
  readonly matchers: readonly Matcher[];
  /** Null: at any time. */
  readonly activeIn: readonly Interval[] | null;
  readonly mutedIn: readonly Interval[];
  readonly timing: Timing;
  readonly routes: readonly Route[];
}

type Matcher = readonly [name: string, operator: string, value: string];

const timingSchema = z.object({
  group_by: z.array(z.string()).optional(),
  group_wait: z.string().optional(),
  group_interval: z.string().optional(),
  repeat_interval: z.string().optional(),
});
type Timing = z.infer<typeof timingSchema>;

const intervalSchema = z.strictObject({
  weekdays: z.array(z.literal("monday:friday")).optional(),
  times: z.array(z.strictObject({ start_time: z.string(), end_time: z.string() })).optional(),
  location: z.literal("UTC").optional(),
});
type Interval = z.infer<typeof intervalSchema>;

const namedIntervals = z
  .array(z.object({ name: z.string(), time_intervals: z.array(intervalSchema) }))
  .transform((all) => new Map(all.map(({ name, time_intervals }) => [name, time_intervals])));
const routeSchema = timingSchema.extend({
  receiver: z.string(),
  matchers: z.array(z.string()).default([]),
  object_matchers: z.array(z.tuple([z.string(), z.string(), z.string()])).default([]),
  active_time_intervals: z.array(z.string()).optional(),
  mute_time_intervals: z.array(z.string()).default([]),
  get routes() {
    return z.array(routeSchema).default([]);
  },
});

const alertmanager = z
  .object({
    route: routeSchema,
    time_intervals: namedIntervals,
    receivers: z.array(z.object({ name: z.string(), webhook_configs: z.array(z.unknown()).default([]) })),
  })
  .parse(parse(readFileSync(ALERTMANAGER, "utf8")));
const grafana = z
  .object({ policies: z.tuple([routeSchema]), muteTimes: namedIntervals })
  .parse(parse(readFileSync(GRAFANA, "utf8")));

const SILENT = alertmanager.receivers.filter(({ webhook_configs }) => webhook_configs.length === 0);
const alertmanagerRoute = routeOf(alertmanager.route, alertmanager.time_intervals);
const grafanaRoute = routeOf(grafana.policies[0], grafana.muteTimes);

describe.each(TABLE)("$alert", ({ labels, atNoon, atNightOrOnSunday }) => {
  const times = [
    { at: WEDNESDAY_NOON, expected: atNoon },
    { at: WEDNESDAY_NIGHT, expected: atNightOrOnSunday },
    { at: SUNDAY_NOON, expected: atNightOrOnSunday },
  ];

  it("goes by amtool to the receiver that this test finds", async () => {
    const args = ["config", "routes", "test", `--config.file=${ALERTMANAGER}`];
    const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const { code, stdout } = await runProgram({ command: "amtool", args: [...args, ...pairs] });

    expect({ code, receiver: stdout.trim() }).toEqual({
      code: 0,
      receiver: find(alertmanagerRoute, labels).receiver,
    });
  });

  it("reaches the same through Alertmanager and through Grafana, by day and by night", () => {
    for (const { at, expected } of times) {
      expect(receiverAt(find(alertmanagerRoute, labels), at)).toBe(expected);
      expect(receiverAt(find(grafanaRoute, labels), at).replace(/^synclag-/, "")).toBe(expected);
    }
  });

  it("waits and repeats as long in both", () => {
    expect(find(grafanaRoute, labels).timing).toEqual(find(alertmanagerRoute, labels).timing);
  });
});

function routeOf(
  route: z.infer<typeof routeSchema>,
  intervals: ReadonlyMap<string, readonly Interval[]>,
  inherited: Timing = {},
): Route {
  const named = (names: readonly string[]): readonly Interval[] =>
    names.flatMap((name) => intervals.get(name) ?? []);
  const timing = { ...inherited, ...timingSchema.parse(route) };
  return {
    receiver: route.receiver,
    matchers: [...route.object_matchers, ...route.matchers.map(matcherOf)],
    activeIn: route.active_time_intervals === undefined ? null : named(route.active_time_intervals),
    mutedIn: named(route.mute_time_intervals),
    timing,
    routes: route.routes.map((child) => routeOf(child, intervals, timing)),
  };
}

function matcherOf(text: string): Matcher {
  const [, name = "", operator = "", value = ""] = /^(\w+)(=~|!~|!=|=)"(.*)"$/.exec(text) ?? [];
  return [name, operator, value];
}

/** The deepest route that fits; of siblings the first. */
function find(route: Route, labels: Row["labels"]): Route {
  const child = route.routes.find(({ matchers }) => matchers.every((matcher) => matches(matcher, labels)));
  return child === undefined ? route : find(child, labels);
}

function matches([name, operator, value]: Matcher, labels: Row["labels"]): boolean {
  const actual = labels[name] ?? "";
  switch (operator) {
    case "=":
      return actual === value;
    case "!=":
      return actual !== value;
    case "=~":
      return new RegExp(`^(?:${value})$`).test(actual);
    case "!~":
      return !new RegExp(`^(?:${value})$`).test(actual);
    default:
      throw new Error(`Cannot match with ${JSON.stringify(operator)}`);
  }
}

function receiverAt({ receiver, activeIn, mutedIn }: Route, at: Date): string {
  const isActive = activeIn === null || activeIn.some((interval) => contains(interval, at));
  const isMuted = mutedIn.some((interval) => contains(interval, at));
  return isActive && !isMuted && SILENT.every(({ name }) => name !== receiver) ? receiver : "nobody";
}

function contains({ weekdays, times }: Interval, at: Date): boolean {
  const time = at.toISOString().slice(11, 16);
  const isWeekday = at.getUTCDay() >= 1 && at.getUTCDay() <= 5;
  return (
    (weekdays === undefined || isWeekday) &&
    (times === undefined || times.some(({ start_time, end_time }) => start_time <= time && time < end_time))
  );
}
