import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import type { AlertContext } from "../../dashboards/src/alert.ts";
import { renderAlertRules, renderRecordingRules } from "../../dashboards/src/prometheus-rules.ts";
import { SETTINGS } from "../../dashboards/src/settings.ts";
import { shortened } from "../../dashboards/src/time-scale.ts";
import type { Pace } from "../../src/sim/fleet/accelerate.ts";
import { type Alertmanager, type Page, startAlertmanager } from "./support/alertmanager.ts";
import { type Detection, fits, Observer, type Sought } from "./support/detection.ts";
import { writeDetection } from "./support/detection-report.ts";
import {
  eachSecond,
  type PrometheusServer,
  type Series,
  startPrometheus,
} from "./support/prometheus-server.ts";
import type { ScriptedFault, Stages } from "./support/scripted-fault.ts";
import { FAULTS, IN_MAINTENANCE, TOLERATED, withTraps } from "./support/scripted-faults.ts";
import { packagedConfig, spareConfig, startStage } from "./support/stage.ts";
import { temporaryFolder, undoAll, undoLater } from "./support/undo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/**
 * An hour of the rules is two minutes here, and so are the limits of chains.yaml. Were it much shorter, a machine that
 * halts for a moment would have been down for minutes.
 */
const SCALE = 30;
const PACE: Pace = {
  pollIntervalSec: 2,
  thresholds: { laggingMs: 20_000, criticalMs: 60_000, stalledMs: 20_000, staleMs: 20_000 },
};
const DETECTED = { timeout: 300_000, interval: 500 };

const targetSchema = z.object({ expr: z.string(), legendFormat: z.string().default("") });
const boardSchema = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(targetSchema).default([]) })),
});
/** Metrics that exist only where chains.yaml has `parity`, or several replicas share a store: no stage here has either. */
const OPTIONAL = /synclag_(parity|leader|store_up)/;
const queries = (
  await Promise.all(
    ["fleet", "chain", "endpoint", "itself"].map(async (name) => {
      const text = await readFile(join(ROOT, `dashboards/synclag-${name}.json`), "utf8");
      const { panels } = boardSchema.parse(JSON.parse(text));
      return panels.flatMap(({ title, targets }) => targets.map((target) => ({ name, title, ...target })));
    }),
  )
).flat();

/** The whole chain of programs, as in deploy/, but for the time that it takes. */
describe("a fault", () => {
  let folder: string;
  let stages: Stages;
  let prometheus: PrometheusServer;
  let alertmanager: Alertmanager;
  let observer: Observer;
  const sought = new Map<ScriptedFault, Sought>();
  const detections = new Map<ScriptedFault, Detection>();

  let watchedSinceMs = 0;
  let injectedAtMs = 0;

  /** All faults are injected at once, so those that are never found are waited for together. */
  const sinceInjection = () => ({
    ...DETECTED,
    timeout: Math.max(1_000, injectedAtMs + DETECTED.timeout - Date.now()),
  });

  const messages = (): readonly Page[] =>
    alertmanager
      .pages()
      .filter(({ path, receivedAtMs }) => path !== "/alive" && receivedAtMs >= watchedSinceMs);

  beforeAll(async () => {
    folder = await temporaryFolder("alerts");
    const context: AlertContext = { settings: SETTINGS, time: shortened(SCALE) };
    const ruleFiles = [join(folder, "recording.yml"), join(folder, "alerts.yml")];
    await writeFile(ruleFiles[0] ?? "", renderRecordingRules(context));
    await writeFile(ruleFiles[1] ?? "", renderAlertRules(context));
    const example = await readFile(join(ROOT, "deploy/alertmanager.yml"), "utf8");
    alertmanager = await startAlertmanager(folder, (port) => impatient(example, port));
    stages = {
      fleet: await startStage(packagedConfig(), PACE, withTraps),
      spare: await startStage(spareConfig("spare"), PACE),
      stuck: await startStage(spareConfig("stuck"), PACE),
    };
    for (const stage of [stages.fleet, stages.spare, stages.stuck]) {
      undoLater(() => stage[Symbol.asyncDispose]());
    }
    await scrape([stages.fleet, stages.spare, stages.stuck].map(({ address }) => address));
    const target = { file: join(folder, "targets.json") };
    const config = eachSecond({ target, ruleFiles, alertmanager: alertmanager.address });
    prometheus = await startPrometheus({ folder, config });
  });

  afterAll(undoAll);

  it("that there is none raises nothing but the watchdog", async () => {
    const scraped = (times: number): Promise<readonly unknown[]> =>
      prometheus.query(`count_over_time(synclag_build_info[2m]) >= ${times}`);
    await expect.poll(() => scraped(5), DETECTED).toHaveLength(3);
    // Prometheus takes its time to find what it must scrape, and seconds count for minutes here.
    const absent = (): Page | undefined =>
      alertmanager.pages().findLast(({ labels }) => labels["alertname"] === "SynclagAbsent");
    await expect.poll(() => absent()?.status ?? "resolved", DETECTED).toBe("resolved");
    watchedSinceMs = Date.now();
    await expect.poll(() => scraped(20), DETECTED).toHaveLength(3);

    expect(alertmanager.pages().map(({ labels }) => labels["alertname"])).toContain("Watchdog");
    expect(messages()).toEqual([]);
  });

  it("is injected, twenty-odd at once", async () => {
    let sinceMs = Date.now();
    for (const fault of FAULTS) {
      if (fault.inject !== null) {
        sinceMs = Date.now();
        await fault.inject(stages);
      }
      const { alert, severity, on, line } = fault;
      const metric = line === null ? null : { url: stages[on].app.url, line };
      sought.set(fault, { alert, labels: { ...fault.labels, severity }, metric, sinceMs });
    }
    stages.fleet.fleet.endpoint(IN_MAINTENANCE).fail("http_503");
    injectedAtMs = Date.now();
    observer = new Observer(prometheus, [...sought.values()]);
    undoLater(() => observer[Symbol.dispose]());
  });

  it.each(FAULTS)("($what) reaches a receiver as $alert, $severity, with its texts", async (fault) => {
    const seek = sought.get(fault);
    const found = (): Page | undefined =>
      messages().find((page) => page.status === "firing" && seek !== undefined && fits(seek, page));
    await expect.poll(found, sinceInjection()).toBeDefined();

    const page = found();
    expect(page?.annotations["summary"]).toEqual(
      typeof fault.summary === "string" ? fault.summary : expect.stringMatching(fault.summary),
    );
    expect(page?.annotations["description"]).toMatch(fault.description);
    expect(Object.values(page?.annotations ?? {}).join("\n")).not.toMatch(/\{\{|<no value>|<error|%!/);
    expect(page?.annotations["runbook_url"]).toBe(`${SETTINGS.runbooksUrl}/${fault.alert}.md`);
    expect(page?.annotations["dashboard_url"]).toMatch(
      /^http:\/\/localhost:3000\/d\/synclag-\w+(\?var-.*)?$/,
    );
  });

  it("names the freshest variant wherever there is one", () => {
    const descriptions = messages().map(({ annotations }) => annotations["description"] ?? "");

    expect(descriptions.filter((text) => text.includes("Freshest: "))).not.toEqual([]);
  });

  it.each(queries.filter(({ expr }) => OPTIONAL.test(expr)))(
    "has nothing to show in panel $title of $name, and no error: $expr",
    async ({ expr }) => {
      expect(await prometheus.query(inGrafana(expr))).toEqual([]);
    },
  );

  it.each(queries.filter(({ expr }) => !OPTIONAL.test(expr)))(
    "has data for panel $title of $name: $expr",
    async ({ expr, legendFormat }) => {
      let found: readonly Series[] = [];
      await expect
        .poll(async () => {
          found = await prometheus.query(inGrafana(expr));
          return found.length;
        }, sinceInjection())
        .toBeGreaterThan(0);

      const legends = found.map(({ labels }) => legendOf(legendFormat, labels));
      expect(legends.filter((legend) => /^ | {2}| $|: $/.test(legend))).toEqual([]);
    },
  );

  it("leaves no rule that cannot be evaluated", async () => {
    const rules = await prometheus.rules();

    expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
    expect(rules.length).toBeGreaterThan(50);
  });

  it("raises nothing else, and nothing in maintenance", () => {
    const unexpected = messages().filter(
      (page) =>
        !FAULTS.some(({ alert, labels, severity }) =>
          fits({ alert, labels: { ...labels, severity } }, page),
        ) &&
        !TOLERATED.some(
          ({ alert, chains }) =>
            page.labels["alertname"] === alert && chains.includes(page.labels["chain"] ?? ""),
        ),
    );

    expect(unexpected.map(({ labels }) => labels)).toEqual([]);
  });

  it("is taken back when it is over", async () => {
    for (const [fault, seek] of sought) {
      detections.set(fault, observer.of(seek, messages()));
    }
    observer[Symbol.dispose]();
    await Promise.all([stages.fleet.fleet.heal(), stages.spare.fleet.heal()]);
    await Promise.all([
      stages.fleet.reloadWith(() => stages.fleet.config),
      stages.spare.reloadWith(() => stages.spare.config),
    ]);

    // Events stand for an hour, and a clock that was stopped is not wound up again.
    const lasting = new Set(["SynclagDeploymentChanged", "SynclagPollLoopStuck"]);
    const open = (): readonly string[] =>
      FAULTS.filter(({ alert }) => !lasting.has(alert))
        // Of whatever severity: Alertmanager does not tell the end of what a more urgent one has just come to hide.
        .filter(
          ({ alert, labels }) =>
            messages().findLast((page) => fits({ alert, labels }, page))?.status === "firing",
        )
        .map(({ alert, labels }) => `${alert} ${JSON.stringify(labels)}`);
    await expect.poll(open, DETECTED).toEqual([]);
  });

  it("of Synclag itself is a ticket while another one watches, pages when none does, and when all are gone", async () => {
    await stages.stuck[Symbol.asyncDispose]();
    await expect.poll(() => raised("SynclagDown", "warning"), DETECTED).toBeDefined();
    await stages.spare[Symbol.asyncDispose]();
    await stages.fleet[Symbol.asyncDispose]();
    await expect.poll(() => raised("SynclagDown", "critical"), DETECTED).toBeDefined();
    await scrape([]);
    await expect.poll(() => raised("SynclagAbsent", "critical"), DETECTED).toBeDefined();
  });

  it("takes as long as docs/DETECTION.md tells", async () => {
    const rows = [...detections].map(([fault, detection]) => ({
      fault,
      detection,
      sinceMs: sought.get(fault)?.sinceMs ?? 0,
    }));

    expect(rows.filter(({ detection }) => detection.deliveredAtMs === null)).toEqual([]);
    await writeDetection(rows, { lookMs: observer.lookMs, scale: SCALE });
  });

  function raised(alert: string, severity: string): Page | undefined {
    return messages().find((page) => page.status === "firing" && fits({ alert, labels: { severity } }, page));
  }

  async function scrape(targets: readonly string[]): Promise<void> {
    await writeFile(join(folder, "targets.json"), JSON.stringify([{ targets }]));
  }
});

/** deploy/alertmanager.yml, to our webhook, at any hour, and at once. */
function impatient(example: string, port: number): string {
  const config: unknown = parse(example, (key, value: unknown) => {
    switch (key) {
      case "group_wait":
      case "group_interval":
        return "1s";
      case "active_time_intervals":
        return undefined;
      case "url":
        return String(value).replace("pager:9911", `127.0.0.1:${port}`);
      default:
        return value;
    }
  });
  const text = stringify(config);
  return text.replace(
    "name: nobody",
    `name: nobody\n    webhook_configs:\n      - url: http://127.0.0.1:${port}/info`,
  );
}

/** `{{protocol}} {{variant}}` with the labels of a series. */
function legendOf(format: string, labels: Series["labels"]): string {
  return format.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? "");
}

/** What Grafana asks when every variable stands on "All", and the chain on one that has everything. */
function inGrafana(expression: string): string {
  return expression
    .replaceAll("$__rate_interval", "10s")
    .replaceAll('chain=~"$chain"', 'chain=~"base|zksync|arbitrum-sepolia|optimism"')
    .replaceAll(/\$(protocol|variant|endpoint|instance)\b/g, ".*");
}
