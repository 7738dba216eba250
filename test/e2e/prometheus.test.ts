import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { getText } from "./support/loopback.ts";
import { runProgram, succeed } from "./support/program.ts";
import { eachSecond, type PrometheusServer, startPrometheus } from "./support/prometheus-server.ts";
import { type Synclag, startDemo } from "./support/synclag.ts";
import { temporaryFolder } from "./support/undo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DASHBOARDS = filesIn("dashboards", ".json");
const RULES = filesIn("dashboards/rules", ".yml");
/** The rules, evaluated ten times as often, because some are evaluated only every five minutes. */
const QUICK_RULES = filesIn("deploy/demo/rules", ".yml");
const RULE_TESTS = filesIn("dashboards/rules/tests", ".yml");
/** Blocks that a chain may make between a scrape and a report; two chains are further apart. */
const MEANWHILE = 500;
const SETTLE = { timeout: 120_000, interval: 500 };

const boardSchema = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
  annotations: z.object({ list: z.array(z.object({ name: z.string(), expr: z.string() })) }),
});
const QUERIES = DASHBOARDS.flatMap((file) => {
  const { panels, annotations } = boardSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  return [
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr }))),
    ...annotations.list.map(({ name, expr }) => ({ title: `annotation ${name}`, expr })),
  ];
});
/** Queries without data in the demo: it has no `parity` and no replicas, and some faults occur rarely. */
const OPTIONAL = /synclag_(parity|leader|store_up)|^annotation/;

/** Runs the built program and the committed files. alerts.test.ts tests the alerts themselves. */
describe("a real Prometheus that scrapes the demo", () => {
  let demo: Synclag;
  let prometheus: PrometheusServer;

  beforeAll(async () => {
    const folder = await temporaryFolder("prometheus");
    demo = await startDemo(["--speed", "4"]);
    const config = eachSecond(new URL(demo.url).host, QUICK_RULES);
    prometheus = await startPrometheus(folder, config);
    await vi.waitFor(async () => {
      // A rate needs a few scrapes.
      expect(await prometheus.query("count_over_time(synclag_build_info[1m]) >= 5")).not.toEqual([]);
    }, SETTLE);
  });

  it("has the height of every target that the daemon knows", async () => {
    const unlike = async () => {
      const series = await prometheus.query("synclag_block_number");
      const stored = new Map(series.map(({ labels, value }) => [keyOf(labels), value]));
      const known = (await demo.report()).targets.filter((one) => one.block_number !== null);
      expect(known.length).toBeGreaterThan(100);
      return known
        .map(({ key, block_number: height }) => ({ key, height: height ?? 0, stored: stored.get(key) ?? 0 }))
        .filter((one) => Math.abs(one.height - one.stored) > MEANWHILE);
    };

    await expect.poll(unlike, SETTLE).toEqual([]);
  });

  it("has metrics without a complaint of `promtool check metrics`", async () => {
    const input = await getText(`${demo.url}/metrics`);

    expect(await runProgram({ command: "promtool", args: ["check", "metrics"], input })).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it.each([
    ["promtool", "check", "rules", ...RULES],
    ...RULE_TESTS.map((file) => ["promtool", "test", "rules", file]),
    ["amtool", "check-config", join(ROOT, "deploy/alertmanager.yml")],
  ])("passes %s %s %s %s", async (command = "", ...args) => {
    await succeed({ command, args });
  });

  it("has data for each query of the dashboards, and evaluates the queries without data in the demo", async () => {
    const empty = async (): Promise<readonly string[]> => {
      const found = await Promise.all(QUERIES.map(({ expr }) => prometheus.query(inGrafana(expr))));
      const without = QUERIES.filter((_, at) => found[at]?.length === 0);
      return without.map(({ title, expr }) => `${title}: ${expr}`).filter((query) => !OPTIONAL.test(query));
    };

    await expect.poll(empty, SETTLE).toEqual([]);
  });

  it("evaluates all rules", async () => {
    const notOk = async () =>
      (await getText(`${prometheus.url}/api/v1/rules`)).match(/"health":"(?!ok")\w+/g);

    await expect.poll(notOk, SETTLE).toBeNull();
  });
});

/** The queries that Grafana sends if every variable is "All". */
function inGrafana(expression: string): string {
  return expression
    .replaceAll(/\$__(rate_interval|range)\b/g, "10s")
    .replaceAll(/\$(cluster|job|protocol|tier|variant|chain|endpoint|instance)\b/g, ".*");
}

function keyOf(labels: Readonly<Record<string, string>>): string {
  return ["protocol", "variant", "tier", "chain"].map((name) => labels[name]).join("/");
}

function filesIn(folder: string, extension: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(extension));
  return names.map((name) => join(ROOT, folder, name));
}
