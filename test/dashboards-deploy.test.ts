import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { allAlerts } from "../dashboards/src/alerts/all-alerts.ts";
import { SETTINGS } from "../dashboards/src/settings.ts";
import { durationMs, realTime } from "../dashboards/src/time-scale.ts";

const DEPLOY = new URL("../deploy/", import.meta.url);

const composeSchema = z.object({
  "x-images": z.record(z.string(), z.string()).default({}),
  services: z.record(
    z.string(),
    z.object({
      image: z.string().optional(),
      build: z.string().optional(),
      volumes: z.array(z.string()).default([]),
      ports: z.array(z.string()).default([]),
    }),
  ),
});
const prometheusSchema = z.object({
  global: z.object({ evaluation_interval: z.string() }),
  rule_files: z.array(z.string()),
});
const timing = z.object({
  group_wait: z.string().optional(),
  group_interval: z.string().optional(),
  repeat_interval: z.string().optional(),
});
const route = timing.extend({
  receiver: z.string(),
  matchers: z.array(z.string()).default([]),
  active_time_intervals: z.array(z.string()).default([]),
});
const intervals = z.array(z.object({ name: z.string(), time_intervals: z.array(z.unknown()) }));
const routesSchema = z.object({
  route: route.extend({ routes: z.array(route) }),
  time_intervals: intervals.default([]),
});
const policy = timing.extend({
  receiver: z.string(),
  object_matchers: z.array(z.tuple([z.string(), z.string(), z.string()])).default([]),
  active_time_intervals: z.array(z.string()).default([]),
});
const contactSchema = z.object({
  policies: z.array(policy.extend({ routes: z.array(policy) })),
  muteTimes: intervals,
});

const alerts = allAlerts({ settings: SETTINGS, time: realTime }).flatMap((group) => group.alerts);
const { services, "x-images": images } = composeSchema.parse(yaml("compose.yaml"));
const COMPOSE_FILES = ["compose.yaml", "compose.run.yaml", "compose.grafana-alerts.yaml"];

describe("deploy/alertmanager.yml", () => {
  it("speaks of no alert that there is not", () => {
    const named = [...read("alertmanager.yml").matchAll(/alertname=~?"([^"]+)"/g)].flatMap(([, names = ""]) =>
      names.split("|"),
    );

    const known = new Set(alerts.map(({ name }) => name));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(20);
  });
});

describe("the routes of deploy/alertmanager.yml", () => {
  const { route: root, time_intervals } = routesSchema.parse(yaml("alertmanager.yml"));

  it("wait for more than one evaluation, for an alert that hides another may come with the next", () => {
    const { evaluation_interval } = prometheusSchema.parse(yaml("prometheus.yml")).global;
    const waits = [root, ...root.routes.filter(({ receiver }) => receiver === "on-call")].map(
      ({ group_wait = "" }) => durationMs(group_wait),
    );

    expect(Math.min(...waits)).toBeGreaterThan(durationMs(evaluation_interval));
  });

  it("equal Grafana's, with the same receivers and times", () => {
    const { policies, muteTimes } = contactSchema.parse(
      yaml("../dashboards/grafana-alerts/contact-points.yml"),
    );

    const all = policies.flatMap((one) => [one, ...one.routes]);
    const named = (name: string) => `synclag-${name}`;
    expect(
      all.map((one) => [
        one.receiver,
        one.object_matchers.map(matcher),
        one.active_time_intervals,
        timing.parse(one),
      ]),
    ).toEqual(
      [root, ...root.routes].map((one) => [
        named(one.receiver),
        one.matchers,
        one.active_time_intervals.map(named),
        timing.parse(one),
      ]),
    );
    expect(muteTimes.map(({ name, time_intervals: times }) => [name, times])).toEqual(
      time_intervals.map(({ name, time_intervals: times }) => [named(name), times]),
    );
  });
});

describe.each(["alertmanager.yml", "demo/alertmanager.yml"])("the watchdog of deploy/%s", (file) => {
  it("is repeated at every group interval: an equally long repeat interval would miss every other one", () => {
    const { route } = routesSchema.parse(yaml(file));
    const watchdog = route.routes.find(({ matchers }) => matchers.includes('severity="none"'));

    expect(durationMs(watchdog?.repeat_interval ?? "")).toBeLessThan(
      durationMs(watchdog?.group_interval ?? ""),
    );
  });
});

describe("deploy/helm/values", () => {
  it("has an example of every value of the chart", () => {
    const examples = readdirSync(new URL("helm/values", DEPLOY));
    const used = new Set(examples.flatMap((file) => namesOf(yaml(`helm/values/${file}`))));

    const described = namesOf(yaml("helm/synclag/values.yaml"));

    expect(described.length).toBeGreaterThan(50);
    expect(described.filter((name) => !used.has(name))).toEqual([]);
  });
});

describe("deploy/compose.yaml", () => {
  it("names each image once, at the top, and no other file names one", () => {
    const named = Object.values(services).flatMap(({ image }) => (image === undefined ? [] : [image]));
    const elsewhere = COMPOSE_FILES.flatMap((file) => read(file).match(/^ +image: (?!\*).*$/gm) ?? []);

    expect(named.toSorted()).toEqual(Object.values(images).toSorted());
    expect(elsewhere).toEqual([]);
  });

  it("pins each image by a version, or builds it, and opens it to this machine only", () => {
    const loose = Object.entries(services).filter(
      ([, { build, image = "", ports }]) =>
        !/^(\.\.|[\w./-]+:v?\d+\.\d+\.\d+(@sha256:\w+)?)$/.test(build ?? image) ||
        ports.some((port) => !port.startsWith("127.0.0.1:")),
    );

    expect(loose.map(([name]) => name)).toEqual([]);
  });

  it("mounts files that are there, as the others do", () => {
    const mounted = COMPOSE_FILES.flatMap((file) =>
      Object.values(composeSchema.parse(yaml(file)).services)
        .flatMap(({ volumes }) => volumes.map((volume) => volume.split(":")[0] ?? ""))
        .filter((path) => path.startsWith(".")),
    );

    expect(mounted.length).toBeGreaterThan(5);
    expect(mounted.filter((path) => !existsSync(new URL(path, DEPLOY)))).toEqual([]);
  });
});

describe.each([
  { file: "prometheus.yml", mounted: "../dashboards/" },
  { file: "demo/prometheus.yml", mounted: "demo/" },
])("deploy/$file", ({ file, mounted }) => {
  it("loads the rules that are rendered", () => {
    const { rule_files } = prometheusSchema.parse(yaml(file));

    expect(rule_files.map((path) => existsSync(new URL(`${mounted}${path}`, DEPLOY)))).toEqual([true, true]);
  });
});

describe("the messages of Alertmanager and Grafana", () => {
  it.each(["alertmanager.yml", "demo/alertmanager.yml", "../dashboards/grafana-alerts/contact-points.yml"])(
    "goes to a service of compose.yaml, by %s",
    (path) => {
      const hosts = [...read(path).matchAll(/url: "?http:\/\/([\w.-]+):9911\//g)].map(
        ([, host = ""]) => host,
      );

      expect(hosts).toHaveLength(3);
      expect(Object.keys(services)).toEqual(expect.arrayContaining(hosts));
    },
  );
});

/** The keys of a file of values, and those one level below. */
function namesOf(values: unknown): readonly string[] {
  return Object.entries(z.record(z.string(), z.unknown()).parse(values)).flatMap(([name, value]) => {
    const isMap = value !== null && typeof value === "object" && !Array.isArray(value);
    return [name, ...(isMap ? Object.keys(value).map((key) => `${name}.${key}`) : [])];
  });
}

function matcher([name, operator, value]: readonly [string, string, string]): string {
  return `${name}${operator}"${value}"`;
}

function read(path: string): string {
  return readFileSync(new URL(path, DEPLOY), "utf8");
}

function yaml(path: string): unknown {
  return parse(read(path));
}
