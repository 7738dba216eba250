import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { allAlerts } from "../dashboards/src/alerts/all-alerts.ts";
import { SETTINGS } from "../dashboards/src/settings.ts";
import { realTime } from "../dashboards/src/time-scale.ts";

const DEPLOY = new URL("../deploy/", import.meta.url);

const composeSchema = z.object({
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
const prometheusSchema = z.object({ rule_files: z.array(z.string()) });
const contactSchema = z.object({
  contactPoints: z.array(z.object({ name: z.string() })),
  policies: z.array(z.object({ receiver: z.string(), routes: z.array(z.object({ receiver: z.string() })) })),
});

const alerts = allAlerts({ settings: SETTINGS, time: realTime }).flatMap((group) => group.alerts);
const { services } = composeSchema.parse(yaml("compose.yaml"));

describe("deploy/alertmanager.yml", () => {
  const text = read("alertmanager.yml");

  it("speaks of no alert that there is not", () => {
    const named = [...text.matchAll(/alertname=~?"([^"]+)"/g)].flatMap(([, names = ""]) => names.split("|"));

    const known = new Set(alerts.map(({ name }) => name));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(20);
  });

  it("routes every severity", () => {
    const severities = new Set(alerts.map(({ severity }) => severity));

    expect([...severities].filter((severity) => !text.includes(`severity="${severity}"`))).toEqual([]);
  });
});

describe("deploy/compose.yaml", () => {
  it.each(Object.entries(services))("pins the image of %s by a version, or builds it", (_name, service) => {
    expect(service.build ?? service.image).toMatch(/^(\.\.|[\w./-]+:v?\d+\.\d+\.\d+(@sha256:\w+)?)$/);
  });

  it.each(Object.entries(services))("mounts into %s what is there, and nothing else", (_name, service) => {
    const files = service.volumes
      .map((volume) => volume.split(":")[0] ?? "")
      .filter((path) => path.startsWith("."));

    expect(files.filter((path) => !existsSync(new URL(path, DEPLOY)))).toEqual([]);
  });

  it.each(Object.entries(services))("opens %s to this machine only", (_name, service) => {
    expect(service.ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });

  it("adds to Grafana, where it evaluates the alerts, files that are there", () => {
    const added = composeSchema.parse(yaml("compose.grafana-alerts.yaml")).services["grafana"]?.volumes ?? [];

    expect(added.map((volume) => existsSync(new URL(volume.split(":")[0] ?? "", DEPLOY)))).toEqual([
      true,
      true,
    ]);
  });
});

describe("deploy/prometheus.yml", () => {
  it("loads the rules that are rendered", () => {
    const { rule_files } = prometheusSchema.parse(yaml("prometheus.yml"));

    expect(rule_files.map((file) => existsSync(new URL(`../dashboards/${file}`, DEPLOY)))).toEqual([
      true,
      true,
    ]);
  });
});

describe("what is sent by Alertmanager and by Grafana", () => {
  it.each(["alertmanager.yml", "../dashboards/grafana-alerts/contact-points.yml"])(
    "goes to a service of compose.yaml, by %s",
    (path) => {
      const hosts = [...read(path).matchAll(/url: http:\/\/([\w.-]+):9911\//g)].map(([, host = ""]) => host);

      expect(hosts).toHaveLength(3);
      expect(Object.keys(services)).toEqual(expect.arrayContaining(hosts));
    },
  );
});

describe("dashboards/grafana-alerts/contact-points.yml", () => {
  it("routes to contact points that it has", () => {
    const { contactPoints, policies } = contactSchema.parse(
      yaml("../dashboards/grafana-alerts/contact-points.yml"),
    );

    const names = new Set(contactPoints.map(({ name }) => name));
    const used = policies.flatMap(({ receiver, routes }) => [
      receiver,
      ...routes.map((route) => route.receiver),
    ]);
    expect(used.filter((name) => !names.has(name))).toEqual([]);
  });
});

describe("deploy/README.md", () => {
  it("leads only to files that are there", () => {
    const links = [...read("README.md").matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, path = ""]) => path);

    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((path) => !existsSync(new URL(path, DEPLOY)))).toEqual([]);
  });
});

function read(path: string): string {
  return readFileSync(new URL(path, DEPLOY), "utf8");
}

function yaml(path: string): unknown {
  return parse(read(path));
}
