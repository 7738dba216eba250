import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type Alertmanager, startAlertmanager } from "./support/alertmanager.ts";
import { getJson, getText } from "./support/loopback.ts";
import { runProgram } from "./support/program.ts";
import { type PrometheusServer, type Series, startPrometheus } from "./support/prometheus-server.ts";
import { type Synclag, startDemo } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DASHBOARDS = filesIn("dashboards", ".json");
const RULES = filesIn("dashboards/rules", ".yml");
const RULE_TESTS = filesIn("dashboards/rules/tests", ".yml");
/** Blocks by which a gateway's answers jump, as the indexers behind it take turns. */
const WOBBLE = 20;
const SETTLE = { timeout: 60_000, interval: 500 };

const statusSchema = z.object({
  targets: z.array(
    z.object({
      protocol: z.string(),
      variant: z.string(),
      tier: z.string(),
      chain: z.string(),
      block_number: z.number().nullable(),
    }),
  ),
  gaps: z.array(z.object({ protocol: z.string(), variant: z.string(), tier: z.string(), chain: z.string() })),
});
const dashboardSchema = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
});

const texts = await Promise.all([...DASHBOARDS, ...RULES].map((file) => readFile(file, "utf8")));
const panels = texts
  .slice(0, DASHBOARDS.length)
  .flatMap((text) => dashboardSchema.parse(JSON.parse(text)).panels);
const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));

describe("a real Prometheus that scrapes the demo", () => {
  let demo: Synclag;
  let alertmanager: Alertmanager;
  let prometheus: PrometheusServer;

  const status = async () => statusSchema.parse(await getJson(`${demo.url}/api/v1/status`));

  beforeAll(async () => {
    const folder = await temporaryFolder("prometheus");
    const eager = join(folder, "eager.yml");
    await writeFile(
      eager,
      withoutPatience(await readFile(join(ROOT, "dashboards/rules/synclag-alerts.yml"), "utf8")),
    );
    alertmanager = await startAlertmanager(folder);
    demo = await startDemo(["--speed", "4"]);
    prometheus = await startPrometheus({
      folder,
      target: new URL(demo.url).host,
      ruleFiles: [...RULES, eager],
      alertmanager: alertmanager.address,
    });
    await vi.waitFor(async () => {
      // A rate needs a few scrapes.
      expect(await prometheus.query("count_over_time(synclag_build_info[1m]) >= 5")).not.toEqual([]);
    }, SETTLE);
  });

  afterAll(undoAll);

  it("scrapes it well within a second", async () => {
    const [duration] = await prometheus.query("max_over_time(scrape_duration_seconds[1m])");

    expect(duration?.value).toBeLessThan(1);
  });

  it("gives back the height of every target, between what the daemon said before and after", async () => {
    const before = heights(await status());
    const from = (await prometheus.query("max(timestamp(synclag_up))"))[0]?.value ?? 0;
    await expect
      .poll(async () => (await prometheus.query(`max(timestamp(synclag_up)) > ${from + 1}`)).length, SETTLE)
      .toBe(1);
    const stored = byTarget(await prometheus.query("synclag_block_number"));
    const after = heights(await status());

    const compared = [...before].flatMap(([target, low]) => {
      const high = after.get(target);
      return high === undefined ? [] : [{ target, low, height: stored.get(target), high }];
    });
    const wrong = compared.filter(
      ({ low, height, high }) =>
        height === undefined ||
        height < Math.min(low, high) - WOBBLE ||
        height > Math.max(low, high) + WOBBLE,
    );
    expect(compared.length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });

  it("has a gap for every pair that the daemon compares, with its uncertainty", async () => {
    const expected = (await status()).gaps.map(targetOf).sort();

    const blocks = byTarget(await prometheus.query("synclag_variant_gap_blocks"));
    const uncertainty = byTarget(await prometheus.query("synclag_variant_gap_uncertainty_blocks"));

    expect(expected.length).toBeGreaterThan(20);
    expect([...blocks.keys()].sort()).toEqual(expected);
    expect([...uncertainty.keys()].sort()).toEqual(expected);
  });

  it("has exactly one status for every target", async () => {
    const expected = (await status()).targets.map(targetOf).sort();

    const sums = byTarget(await prometheus.query("sum by (protocol, variant, tier, chain) (synclag_status)"));

    expect([...sums.keys()].sort()).toEqual(expected);
    expect(new Set(sums.values())).toEqual(new Set([1]));
  });

  it.each(queries)("has data for panel $title: $expr", async ({ expr }) => {
    await expect
      .poll(async () => (await prometheus.query(inGrafana(expr))).length, SETTLE)
      .toBeGreaterThan(0);
  });

  it("evaluates every rule", async () => {
    await expect
      .poll(async () => (await prometheus.rules()).filter(({ health }) => health !== "ok"), {
        ...SETTLE,
        timeout: 100_000, // Some groups are evaluated once a minute.
      })
      .toEqual([]);
    expect((await prometheus.rules()).length).toBeGreaterThan(20);
  });

  it("names in dashboards/ no metric that this /metrics lacks", async () => {
    const { families } = await demo.metrics();
    const named = texts.join("\n").match(/\bsynclag_\w+/g);

    const missing = [...new Set(named)].filter(
      (name) => !families.has(name) && !families.has(name.replace(/_(bucket|sum|count)$/, "")),
    );

    expect(missing).toEqual([]);
  });

  it("leaves promtool check metrics nothing to say", async () => {
    const input = await getText(`${demo.url}/metrics`);

    expect(await runProgram({ command: "promtool", args: ["check", "metrics"], input })).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it.each([
    { what: "check", files: RULES },
    { what: "test", files: RULE_TESTS },
  ])("passes promtool $what rules", async ({ what, files }) => {
    const args = [what, "rules", ...files];
    const { code, stdout, stderr } = await runProgram({ command: "promtool", args });

    expect({ code, output: code === 0 ? "" : `${stdout}${stderr}` }).toEqual({ code: 0, output: "" });
  });

  it.each([
    { alertname: "SynclagIndexerLagging", protocol: "airdrops", variant: "subgraph", chain: "base" },
    { alertname: "SynclagKeyRejected", protocol: "lockup", variant: "subgraph" },
  ])(
    "pages for $alertname when the tour comes to it, and takes it back",
    async (labels) => {
      for (const status of ["firing", "resolved"]) {
        await expect
          .poll(() => alertmanager.pages(), { timeout: 180_000, interval: 500 })
          .toContainEqual(expect.objectContaining({ status, labels: expect.objectContaining(labels) }));
      }
    },
    400_000,
  );

  it("pages when Synclag itself dies, with a summary and a runbook", async () => {
    await demo.stop();

    await expect
      .poll(() => alertmanager.pages().find(({ labels }) => labels["alertname"] === "SynclagDown"), SETTLE)
      .toMatchObject({
        status: "firing",
        labels: { severity: "critical", job: "synclag" },
        annotations: {
          summary: `Synclag on ${new URL(demo.url).host} cannot be scraped`,
          runbook_url: "docs/runbooks/SynclagDown.md",
        },
      });
  });
});

/** The same rules, but each fires at once: a test has no minutes to wait. */
function withoutPatience(rules: string): string {
  return rules.replaceAll(/for: \d+[smh]/g, "for: 0s").replaceAll(/name: synclag-(\w+)/g, "name: eager-$1");
}

/** What Grafana asks when every variable stands on "All". */
function inGrafana(expression: string): string {
  return expression
    .replaceAll("$__rate_interval", "1m")
    .replaceAll(/\$(protocol|chain|variant|endpoint|instance)\b/g, ".*");
}

function heights({ targets }: z.infer<typeof statusSchema>): ReadonlyMap<string, number> {
  return new Map(
    targets.flatMap((target) =>
      target.block_number === null ? [] : [[targetOf(target), target.block_number] as const],
    ),
  );
}

function byTarget(series: readonly Series[]): ReadonlyMap<string, number> {
  return new Map(series.map(({ labels, value }) => [targetOf(labels), value]));
}

function targetOf(labels: {
  readonly protocol?: string;
  readonly variant?: string;
  readonly tier?: string;
  readonly chain?: string;
}): string {
  return [labels.protocol, labels.variant, labels.tier, labels.chain].join("/");
}

function filesIn(folder: string, extension: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(extension));
  return names.map((name) => join(ROOT, folder, name));
}
