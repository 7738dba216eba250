import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { renderedFiles } from "../dashboards/src/rendered-files.ts";
import { SETTINGS } from "../dashboards/src/settings.ts";
import { realTime } from "../dashboards/src/time-scale.ts";
import { METRIC_FAMILIES } from "../src/metrics/families.ts";
import { renderRuleTests } from "./rules/rule-test-files.ts";

const DASHBOARDS = new URL("../dashboards/", import.meta.url);

/** Those that prom-client keeps, and those that Prometheus makes of each scrape. */
const OTHER_METRICS = new Set([
  "synclag_build_info",
  "synclag_poll_duration_seconds_bucket",
  "synclag_poll_duration_seconds",
]);

const boardSchema = z.object({
  uid: z.string(),
  templating: z.object({ list: z.array(z.object({ name: z.string() })) }),
  annotations: z.object({ list: z.array(z.object({ name: z.string(), expr: z.string() })) }),
  panels: z.array(
    z.object({
      type: z.string(),
      title: z.string(),
      gridPos: z.object({ x: z.number(), w: z.number() }),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string().default("") })).default([]),
    }),
  ),
});

const RENDERED = renderedFiles();
/** What `npm run generate` writes. */
const GENERATED: ReadonlyMap<string, string> = new Map([
  ...RENDERED,
  ...[...renderRuleTests({ settings: SETTINGS, time: realTime })].map(
    ([name, text]) => [`rules/tests/${name}`, text] as const,
  ),
]);
const boards = [...RENDERED]
  .filter(([path]) => /^[\w-]+\.json$/.test(path))
  .map(([path, text]) => ({ path, ...boardSchema.parse(JSON.parse(text)) }));
const panels = boards.flatMap(({ uid, panels }) =>
  panels.filter(({ type }) => type !== "row").map((panel) => ({ uid, ...panel })),
);

describe("renderedFiles()", () => {
  it("is what dashboards/ holds; `npm run generate` renders it again", () => {
    const stale = [...GENERATED]
      .filter(([path, text]) => readFileSync(new URL(path, DASHBOARDS), "utf8") !== text)
      .map(([path]) => path);

    expect(stale).toEqual([]);
  });

  it("leaves no other rendered file behind", () => {
    const found = readdirSync(DASHBOARDS, { recursive: true, encoding: "utf8" });
    const kept = found.filter((path) => /\.(json|ya?ml)$/.test(path) && !path.startsWith("src/"));
    const others = ["../deploy/helm/synclag/templates/_links.tpl", "../docs/ALERTS.md"];
    const written = "grafana-alerts/contact-points.yml";
    const demo = "../deploy/demo/";
    const elsewhere = readdirSync(new URL(demo, DASHBOARDS), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(json|yml)$/.test(path))
      .map((path) => `${demo}${path}`);

    expect([...kept, ...elsewhere, ...others].toSorted()).toEqual([...GENERATED.keys(), written].toSorted());
  });

  it("leads to the configured links, and reads the selected series", () => {
    const settings = {
      ...SETTINGS,
      runbooksUrl: "https://git.example/runbooks",
      grafanaUrl: "https://grafana.example",
      synclagUrl: "https://synclag.example",
      selector: 'job="one"',
    };
    const texts = [...renderedFiles(settings)].filter(([path]) => !path.startsWith("../deploy/demo/"));

    expect(texts.filter(([, text]) => /localhost|job=~\\?"\.\*/.test(text)).map(([path]) => path)).toEqual(
      [],
    );
    expect(renderedFiles(settings).get("rules/synclag-alerts.yml")).toContain('synclag_up{job="one"}');
    // The chart and `sed` replace the selector as it stands in PromQL.
    expect(RENDERED.get("rules/synclag-alerts.yml")).not.toContain('job=~\\"');
  });

  it("names in all of them only metrics that /metrics serves", () => {
    const served = new Set([...METRIC_FAMILIES.map(({ name }) => name), ...OTHER_METRICS]);

    const unknown = [...GENERATED].flatMap(([path, text]) =>
      metricsIn(text)
        .filter((name) => !served.has(name))
        .map((name) => `${path}: ${name}`),
    );

    expect(unknown).toEqual([]);
  });
});

// What panels and boards have in common is built by dashboards/src/boards/panels.ts and board.ts.
describe("a dashboard", () => {
  it("writes no label into a budget's legend that a shared budget leaves empty", () => {
    const legends = panels
      .flatMap(({ targets }) => targets)
      .filter(({ expr, legendFormat }) => expr.includes("synclag_budget_") && legendFormat !== "")
      .map(({ legendFormat }) => legendFormat);

    expect(legends.length).toBeGreaterThan(1);
    expect(legends.filter((legend) => /\{\{(protocol|variant|tier|endpoint)\}\}/.test(legend))).toEqual([]);
  });

  it("fills the width of each line of panels", () => {
    const ragged = boards.flatMap(({ uid, panels: own }) =>
      own
        .filter(
          ({ gridPos }, index) => (own[index + 1]?.gridPos.x ?? 0) === 0 && gridPos.x + gridPos.w !== 24,
        )
        .map(({ title }) => `${uid}: ${title}`),
    );

    expect(ragged).toEqual([]);
  });

  it("shows of each metric only what cluster and job select", () => {
    const unselected = panels.flatMap(({ uid, title, targets }) =>
      targets
        .flatMap(
          ({ expr }) =>
            expr.match(/\b(synclag[_:][\w:]+|up|process_\w+)\{[^}]*\}|\bsynclag[_:][\w:]+(?![\w:{])/g) ?? [],
        )
        .filter((selector) => !selector.includes('cluster=~"$cluster", job=~"$job"'))
        .map((selector) => `${uid}: ${title}: ${selector}`),
    );

    expect(unselected).toEqual([]);
  });

  it("uses only variables that it has", () => {
    const marks = boards.flatMap(({ uid, annotations }) =>
      annotations.list.map(({ name, expr }) => ({ uid, title: name, targets: [{ expr }] })),
    );
    const unknown = [...panels, ...marks].flatMap(({ uid, title, targets }) => {
      const own = boards.find((board) => board.uid === uid)?.templating.list.map(({ name }) => name) ?? [];
      return targets
        .flatMap(({ expr }) => [...expr.matchAll(/\$([a-z_]\w*)/g)].map(([, name = ""]) => name))
        .filter((name) => ![...own, "__rate_interval", "__range"].includes(name))
        .map((name) => `${uid}: ${title}: ${name}`);
    });

    expect(unknown).toEqual([]);
  });
});

function metricsIn(text: string): readonly string[] {
  return [...new Set(text.match(/\bsynclag_[a-z_]+\b/g))];
}
