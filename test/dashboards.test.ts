import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { renderedFiles } from "../dashboards/src/rendered-files.ts";
import { SETTINGS } from "../dashboards/src/settings.ts";
import { realTime } from "../dashboards/src/time-scale.ts";
import { STATUSES } from "../src/core/model/report.ts";
import { METRIC_FAMILIES } from "../src/metrics/families.ts";
import { renderRuleTests } from "./rules/rule-test-files.ts";

const DASHBOARDS = new URL("../dashboards/", import.meta.url);

/** Those that prom-client keeps, and those that Prometheus makes of each scrape. */
const OTHER_METRICS = new Set([
  "synclag_build_info",
  "synclag_poll_duration_seconds_bucket",
  "synclag_poll_duration_seconds",
]);

const query = z.object({
  refId: z.string(),
  expr: z.string(),
  legendFormat: z.string().default(""),
  datasource: z.object({ uid: z.string() }),
});
const mapping = z.object({ options: z.record(z.string(), z.object({ text: z.string() })) });
const panelSchema = z.object({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  description: z.string().optional(),
  datasource: z.object({ uid: z.string() }).optional(),
  gridPos: z.object({ x: z.number(), w: z.number() }),
  repeat: z.string().optional(),
  repeatDirection: z.string().optional(),
  fieldConfig: z
    .object({
      defaults: z.object({
        unit: z.string(),
        color: z.object({ mode: z.string() }).optional(),
        mappings: z.array(mapping).default([]),
      }),
    })
    .optional(),
  options: z
    .object({
      mergeValues: z.boolean().optional(),
      legend: z
        .object({
          showLegend: z.boolean().default(false),
          displayMode: z.string().default("hidden"),
          calcs: z.array(z.string()).default([]),
        })
        .optional(),
    })
    .optional(),
  targets: z.array(query).optional(),
});
const boardSchema = z.object({
  uid: z.string(),
  links: z.array(z.object({ type: z.string(), tags: z.array(z.string()), url: z.string().optional() })),
  editable: z.boolean(),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.string(), allValue: z.string().optional() })),
  }),
  annotations: z.object({
    list: z.array(
      z.object({ name: z.string(), expr: z.string(), datasource: z.object({ uid: z.string() }) }),
    ),
  }),
  panels: z.array(panelSchema),
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

describe("a dashboard", () => {
  it("describes each panel, gives it a unit and queries, and leaves the data source to the reader", () => {
    const lacking = panels.filter(({ description, datasource, fieldConfig, targets = [] }) => {
      const sources = [datasource, ...targets.map((target) => target.datasource)];
      return (
        description?.endsWith(".") !== true ||
        fieldConfig?.defaults.unit === "" ||
        targets.length === 0 ||
        sources.some((source) => source?.uid !== "$datasource")
      );
    });

    expect(panels.length).toBeGreaterThan(40);
    expect(lacking.map(({ uid, title }) => `${uid}: ${title}`)).toEqual([]);
  });

  it("has an id for each panel, and one for each query of a panel", () => {
    const ids = boards.flatMap(({ path, panels: own }) => [
      ...own.map(({ id }) => `${path} ${id}`),
      ...own.flatMap(({ id, targets = [] }) => targets.map(({ refId }) => `${path} ${id} ${refId}`)),
    ]);

    expect(ids).toEqual([...new Set(ids)]);
  });

  it("writes no label into a budget's legend that a shared budget leaves empty", () => {
    const legends = panels
      .flatMap(({ targets = [] }) => targets)
      .filter(({ expr, legendFormat }) => expr.includes("synclag_budget_") && legendFormat !== "")
      .map(({ legendFormat }) => legendFormat);

    expect(legends.length).toBeGreaterThan(1);
    expect(legends.filter((legend) => /\{\{(protocol|variant|tier|endpoint)\}\}/.test(legend))).toEqual([]);
  });

  it("leads to the others and to Synclag's page", () => {
    for (const { links, templating } of boards) {
      expect(links).toEqual([
        expect.objectContaining({ type: "dashboards", tags: ["synclag"] }),
        expect.objectContaining({ type: "link" }),
      ]);
      expect(templating.list[0]).toMatchObject({ name: "datasource", type: "datasource" });
      expect(templating.list.at(-1)).toMatchObject({ name: "synclag", type: "textbox" });
    }
  });

  it("of a chain leads to Synclag's page of that chain", () => {
    const chain = boards.find(({ uid }) => uid === "synclag-chain");

    expect(chain?.links.map(({ url }) => url)).toContain("$" + "{synclag}/chains/$" + "{chain}");
  });

  it("colours statuses by their mappings: by thresholds Grafana ignores these, one grey block", () => {
    const timelines = panels.filter(({ type }) => type === "state-timeline");
    const grey = panels.filter(
      ({ fieldConfig, options }) =>
        (fieldConfig?.defaults.mappings.length ?? 0) > 0 &&
        fieldConfig?.defaults.color?.mode === "thresholds" &&
        options?.mergeValues !== undefined,
    );

    expect(timelines).toHaveLength(2);
    expect(grey.map(({ title }) => title)).toEqual([]);
    for (const { fieldConfig } of timelines) {
      const texts = fieldConfig?.defaults.mappings.flatMap(({ options }) => Object.values(options));
      expect(fieldConfig?.defaults.color?.mode).toBe("fixed");
      expect(texts?.map(({ text }) => text).toSorted()).toEqual(STATUSES.toSorted());
    }
  });

  it("names each line of a graph, with its last value", () => {
    const graphs = panels.filter(({ type }) => type === "timeseries");
    const nameless = graphs.filter(
      ({ options, targets = [] }) =>
        options?.legend?.showLegend !== true ||
        options.legend.displayMode === "hidden" ||
        !options.legend.calcs.includes("lastNotNull") ||
        targets.some(({ legendFormat }) => legendFormat === ""),
    );

    expect(graphs.length).toBeGreaterThan(20);
    expect(nameless.map(({ uid, title }) => `${uid}: ${title}`)).toEqual([]);
  });

  it("fills the width of each line of panels, whatever is repeated", () => {
    const repeated = panels.filter(({ repeat }) => repeat !== undefined);
    const ragged = boards.flatMap(({ uid, panels: own }) =>
      own
        .filter(({ gridPos }, index) => {
          const next = own[index + 1];
          const ends = next === undefined || next.gridPos.x === 0;
          return ends && gridPos.x + gridPos.w !== 24;
        })
        .map(({ title }) => `${uid}: ${title}`),
    );

    expect(repeated.map(({ gridPos, repeatDirection }) => [gridPos.w, repeatDirection])).toEqual([
      [24, "v"],
      [24, "v"],
    ]);
    expect(ragged).toEqual([]);
  });

  it('is not editable, has annotations, and uses `.+` for "all" if each series has the label', () => {
    // Only some Prometheus servers add a cluster, and RPC nodes have neither protocol, variant nor tier.
    const optional: Readonly<Record<string, readonly string[]>> = {
      "synclag-endpoint": ["cluster", "protocol", "tier", "variant", "endpoint"],
      "synclag-itself": ["cluster", "tier"],
    };
    for (const { uid, editable, annotations, templating } of boards) {
      expect(editable).toBe(false);
      expect(annotations.list.map(({ name }) => name)).toContain("Reloads");
      expect(annotations.list.filter(({ datasource }) => datasource.uid !== "$datasource")).toEqual([]);
      const all = (value: string) =>
        templating.list.filter(({ allValue }) => allValue === value).map(({ name }) => name);
      expect(all(".*")).toEqual(optional[uid] ?? ["cluster"]);
      expect(all(".+")).toContain("job");
    }
  });

  it("can be filtered by cluster, job, protocol, tier, chain and variant", () => {
    const names = new Map(
      boards.map(({ uid, templating }) => [uid, templating.list.map(({ name }) => name)]),
    );

    expect(names.get("synclag-fleet")).toEqual(
      expect.arrayContaining(["cluster", "job", "protocol", "tier", "chain", "variant"]),
    );
    expect(names.get("synclag-chain")).toEqual(
      expect.arrayContaining(["cluster", "job", "protocol", "tier", "chain", "variant"]),
    );
    expect(names.get("synclag-endpoint")).toEqual(
      expect.arrayContaining(["cluster", "job", "protocol", "tier", "variant", "endpoint"]),
    );
    expect(names.get("synclag-itself")).toEqual(
      expect.arrayContaining(["cluster", "job", "instance", "tier"]),
    );
  });

  it("shows of each metric only what cluster and job select", () => {
    const unselected = panels.flatMap(({ uid, title, targets = [] }) =>
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
    const unknown = [...panels, ...marks].flatMap(({ uid, title, targets = [] }) => {
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
