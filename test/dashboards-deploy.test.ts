import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { allAlerts } from "../dashboards/src/alerts/all-alerts.ts";
import { SETTINGS } from "../dashboards/src/settings.ts";
import { durationMs, realTime } from "../dashboards/src/time-scale.ts";

const DEPLOY = new URL("../deploy/", import.meta.url);
const GRAFANA = "../dashboards/grafana-alerts/contact-points.yml";
const COMPOSE_FILES = ["compose.yaml", "compose.run.yaml", "compose.grafana-alerts.yaml"];

interface Route {
  readonly receiver: string;
  readonly group_wait?: string;
  readonly group_interval?: string;
  readonly repeat_interval?: string;
  readonly matchers?: readonly string[];
  readonly routes: readonly Route[];
}

interface Compose {
  readonly "x-images": Readonly<Record<string, string>>;
  readonly services: Readonly<
    Record<string, { image?: string; build?: string; ports?: string[]; volumes?: string[] }>
  >;
}

const { route, time_intervals } = yaml<{ route: Route; time_intervals: unknown }>("alertmanager.yml");
const { services, "x-images": images } = yaml<Compose>("compose.yaml");

describe("deploy/alertmanager.yml", () => {
  it("names only alerts that exist", () => {
    const named = [...read("alertmanager.yml").matchAll(/alertname=~?"([^"]+)"/g)].flatMap(([, names = ""]) =>
      names.split("|"),
    );
    const groups = allAlerts({ settings: SETTINGS, time: realTime });
    const known = new Set(groups.flatMap(({ alerts }) => alerts.map(({ name }) => name)));

    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(20);
  });

  it("waits for more than one evaluation, because an inhibiting alert may come with the next one", () => {
    const { global } = yaml<{ global: { evaluation_interval: string } }>("prometheus.yml");
    const waits = [route, ...route.routes.filter(({ receiver }) => receiver === "on-call")].map(
      ({ group_wait = "" }) => durationMs(group_wait),
    );

    expect(Math.min(...waits)).toBeGreaterThan(durationMs(global.evaluation_interval));
  });

  it("has the routes and times of Grafana's contact points", () => {
    interface Policy extends Route {
      readonly orgId?: 1;
      readonly object_matchers: readonly string[][];
      readonly routes: readonly Policy[];
    }
    const text = read(GRAFANA).replaceAll("synclag-", "");
    // Grafana checks the rest.
    const { policies, muteTimes } = parse(text) as { policies: [Policy]; muteTimes: object[] };
    const asRoute = ({ object_matchers: matchers, ...policy }: Policy) => ({
      ...policy,
      matchers: matchers.map(([name, operator, value]) => `${name}${operator}"${value}"`),
    });

    const [{ routes, ...root }] = policies;
    expect({ ...root, routes: routes.map(asRoute) }).toEqual({ orgId: 1, ...route });
    expect(muteTimes).toMatchObject(time_intervals as object[]);
  });

  it.each(["alertmanager.yml", "demo/alertmanager.yml"])(
    "repeats the watchdog at every group interval, in %s",
    (file) => {
      const { routes } = yaml<{ route: Route }>(file).route;
      const watchdog = routes.find(({ matchers }) => matchers?.includes('severity="none"'));

      // A window of the same length would miss every other one.
      expect(durationMs(watchdog?.repeat_interval ?? "")).toBeLessThan(
        durationMs(watchdog?.group_interval ?? ""),
      );
    },
  );

  it.each(["alertmanager.yml", "demo/alertmanager.yml", GRAFANA])(
    "sends to a service of compose.yaml: %s",
    (file) => {
      const hosts = [...read(file).matchAll(/url: "?http:\/\/([\w.-]+):9911\//g)].map(([, host]) => host);

      expect(hosts).toHaveLength(3);
      expect(Object.keys(services)).toEqual(expect.arrayContaining(hosts));
    },
  );
});

describe("deploy/helm/values", () => {
  it("has an example of every value of the chart", () => {
    const examples = readdirSync(new URL("helm/values", DEPLOY));
    const used = new Set(examples.flatMap((file) => namesOf(`helm/values/${file}`)));

    const described = namesOf("helm/synclag/values.yaml");

    expect(described.length).toBeGreaterThan(50);
    expect(described.filter((name) => !used.has(name))).toEqual([]);
  });
});

describe("deploy/compose.yaml", () => {
  it("names each image once, at the top, with a version, and publishes ports only on the loopback interface", () => {
    const all = Object.values(services);
    const elsewhere = COMPOSE_FILES.flatMap((file) => read(file).match(/^ +image: (?!\*).*$/gm) ?? []);
    const places = all.map(({ build, image = "" }) => build ?? image);

    expect(all.flatMap(({ image = [] }) => image).toSorted()).toEqual(Object.values(images).toSorted());
    expect(elsewhere).toEqual([]);
    expect(places.filter((one) => !/^(\.\.|[\w./-]+:v?\d+\.\d+\.\d+(@sha256:\w+)?)$/.test(one))).toEqual([]);
    expect(all.flatMap(({ ports = [] }) => ports).filter((port) => !port.startsWith("127.0.0.1:"))).toEqual(
      [],
    );
  });

  it("mounts only files that exist, and Prometheus loads only rules that exist", () => {
    const mounted = COMPOSE_FILES.flatMap((file) => Object.values(yaml<Compose>(file).services))
      .flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(":")[0] ?? ""))
      .filter((path) => path.startsWith("."));
    const rules = { "prometheus.yml": "../dashboards/", "demo/prometheus.yml": "demo/" };
    const loaded = Object.entries(rules).flatMap(([file, folder]) =>
      yaml<{ rule_files: string[] }>(file).rule_files.map((path) => `${folder}${path}`),
    );

    expect(mounted.length).toBeGreaterThan(5);
    expect(loaded).toHaveLength(4);
    expect([...mounted, ...loaded].filter((path) => !existsSync(new URL(path, DEPLOY)))).toEqual([]);
  });
});

/** The keys of a file of values, and those one level below. */
function namesOf(path: string): readonly string[] {
  return Object.entries(yaml<Record<string, unknown>>(path)).flatMap(([name, value]) => {
    const isMap = value !== null && typeof value === "object" && !Array.isArray(value);
    return [name, ...(isMap ? Object.keys(value).map((key) => `${name}.${key}`) : [])];
  });
}

function read(path: string): string {
  return readFileSync(new URL(path, DEPLOY), "utf8");
}

function yaml<Shape>(path: string): Shape {
  // Its own program checks the file.
  return parse(read(path)) as Shape;
}
