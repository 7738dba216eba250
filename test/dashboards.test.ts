import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { renderedFiles } from "../dashboards/src/rendered-files.ts";
import { SETTINGS } from "../dashboards/src/settings.ts";
import { realTime } from "../dashboards/src/time-scale.ts";
import { METRIC_FAMILIES } from "../src/metrics/families.ts";
import { renderRuleTests } from "./rules/rule-test-files.ts";

const DASHBOARDS = new URL("../dashboards/", import.meta.url);
const DEMO = "../deploy/demo/";
const SELECTORS = /\b(synclag[_:][\w:]+|up|process_\w+)\{[^}]*\}|\bsynclag[_:][\w:]+(?![\w:{])/g;

const boardSchema = z.object({
  templating: z.object({ list: z.array(z.object({ name: z.string() })) }),
  annotations: z.object({ list: z.array(z.object({ expr: z.string() })) }),
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
const RULE_TESTS = renderRuleTests({ settings: SETTINGS, time: realTime });
/** What `npm run generate` writes. */
const GENERATED = new Map([
  ...RENDERED,
  ...[...RULE_TESTS].map(([name, text]) => [`rules/tests/${name}`, text] as const),
]);
const boards = [...RENDERED]
  .filter(([path]) => /^[\w-]+\.json$/.test(path))
  .map(([path, text]) => ({ path, ...boardSchema.parse(JSON.parse(text)) }));

describe("renderedFiles()", () => {
  it("is what dashboards/ holds, without other files; `npm run generate` renders it again", () => {
    const stale = [...GENERATED].filter(([path, text]) => read(path) !== text).map(([path]) => path);
    const found = [
      ...filesIn("").filter((path) => !path.startsWith("src/")),
      ...filesIn(DEMO),
      ...["../deploy/helm/synclag/templates/_links.tpl", "../docs/ALERTS.md"],
    ];

    expect(stale).toEqual([]);
    expect(found.toSorted()).toEqual([...GENERATED.keys(), "grafana-alerts/contact-points.yml"].toSorted());
  });

  it("has the configured links, and reads the selected series", () => {
    const settings = {
      ...SETTINGS,
      runbooksUrl: "https://git.example/runbooks",
      grafanaUrl: "https://grafana.example",
      synclagUrl: "https://synclag.example",
      selector: 'job="one"',
    };
    const texts = [...renderedFiles(settings)].filter(([path]) => !path.startsWith(DEMO));
    const unset = texts.filter(([, text]) => /localhost|job=~\\?"\.\*/.test(text)).map(([path]) => path);

    expect(unset).toEqual([]);
    expect(new Map(texts).get("rules/synclag-alerts.yml")).toContain('synclag_up{job="one"}');
    // The chart and `sed` replace the selector as written in PromQL.
    expect(RENDERED.get("rules/synclag-alerts.yml")).not.toContain('job=~\\"');
  });

  it("names only metrics that /metrics serves", () => {
    const families = METRIC_FAMILIES.flatMap(({ name, type }) =>
      type === "histogram" ? [name, `${name}_bucket`] : [name],
    );
    const served = new Set([...families, "synclag_build_info"]);
    const named = [...GENERATED].flatMap(([path, text]) =>
      (text.match(/\bsynclag_[a-z_]+\b/g) ?? []).map((name) => ({ path, name })),
    );

    expect(named.filter(({ name }) => !served.has(name))).toEqual([]);
  });

  it("uses only variables of its dashboard, selects cluster and job, and fills the width", () => {
    const wrong = boards.flatMap(({ path, templating, annotations, panels }) => {
      const known = ["__rate_interval", "__range", ...templating.list.map(({ name }) => name)];
      const all = [...panels, { title: "annotation", targets: annotations.list }];
      const unknown = all.flatMap(({ title, targets }) =>
        targets
          .flatMap(({ expr }) => [...expr.matchAll(/\$([a-z_]\w*)/g)].map(([, name = ""]) => name))
          .filter((name) => !known.includes(name))
          .map((name) => `${title} uses $${name}`),
      );
      const unselected = panels.flatMap(({ title, targets }) =>
        targets
          .flatMap(({ expr }) => expr.match(SELECTORS) ?? [])
          .filter((selector) => !selector.includes('cluster=~"$cluster", job=~"$job"'))
          .map((selector) => `${title} selects ${selector}`),
      );
      const ragged = panels
        .filter(({ gridPos: { x, w } }, at) => (panels[at + 1]?.gridPos.x ?? 0) === 0 && x + w !== 24)
        .map(({ title }) => `${title} ends too soon`);
      return [...unknown, ...unselected, ...ragged].map((fault) => `${path}: ${fault}`);
    });

    expect(wrong).toEqual([]);
  });

  it("counts as failed requests only those that were sent", () => {
    const exprs = boards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets));
    const shares = exprs.filter(({ expr }) => /failures_total.* \/ .*polls_total/.test(expr));

    expect(shares).toHaveLength(1);
    expect(shares.filter(({ expr }) => !expr.includes('reason!="budget"'))).toEqual([]);
  });

  it("has no label in a budget's legend that a shared budget lacks", () => {
    const legends = boards
      .flatMap(({ panels }) => panels.flatMap(({ targets }) => targets))
      .filter(({ expr, legendFormat }) => expr.includes("synclag_budget_") && legendFormat !== "")
      .map(({ legendFormat }) => legendFormat);

    expect(legends.length).toBeGreaterThan(1);
    expect(legends.filter((legend) => /\{\{(protocol|variant|tier|endpoint)\}\}/.test(legend))).toEqual([]);
  });
});

function read(path: string): string {
  return readFileSync(new URL(path, DASHBOARDS), "utf8");
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(new URL(folder, DASHBOARDS), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(json|ya?ml)$/.test(path))
    .map((path) => `${folder}${path}`);
}
