import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { STATUSES_BY_URGENCY } from "../dashboards/src/boards/status-ranks.ts";
import { renderedFiles } from "../dashboards/src/rendered-files.ts";
import { STATUSES } from "../src/core/model/report.ts";
import { METRIC_FAMILIES } from "../src/metrics/families.ts";

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
const panelSchema = z.object({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  description: z.string().optional(),
  datasource: z.object({ uid: z.string() }).optional(),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }).optional(),
  targets: z.array(query).optional(),
});
const boardSchema = z.object({
  uid: z.string(),
  links: z.array(z.object({ type: z.string(), tags: z.array(z.string()), url: z.string().optional() })),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  panels: z.array(panelSchema),
});

const boards = [...renderedFiles()]
  .filter(([path]) => path.endsWith(".json"))
  .map(([path, text]) => ({ path, ...boardSchema.parse(JSON.parse(text)) }));
const panels = boards.flatMap(({ uid, panels }) =>
  panels.filter(({ type }) => type !== "row").map((panel) => ({ uid, ...panel })),
);

describe("renderedFiles()", () => {
  it("is what dashboards/ holds; `npm run generate` renders it again", () => {
    const stale = [...renderedFiles()]
      .filter(([path, text]) => readFileSync(new URL(path, DASHBOARDS), "utf8") !== text)
      .map(([path]) => path);

    expect(stale).toEqual([]);
  });

  it("leaves no other rendered file behind", () => {
    const found = readdirSync(DASHBOARDS, { recursive: true, encoding: "utf8" });
    const kept = found.filter((path) => /\.(json|ya?ml)$/.test(path) && !path.startsWith("src/"));
    const elsewhere = ["../deploy/demo/", "../deploy/helm/synclag/files/"].flatMap((folder) =>
      readdirSync(new URL(folder, DASHBOARDS), { recursive: true, encoding: "utf8" })
        .filter((path) => /\.(json|yml)$/.test(path))
        .map((path) => `${folder}${path}`),
    );

    expect([...kept, ...elsewhere].toSorted()).toEqual([...renderedFiles().keys()].toSorted());
  });

  it("names in all of them only metrics that /metrics serves", () => {
    const served = new Set([...METRIC_FAMILIES.map(({ name }) => name), ...OTHER_METRICS]);

    const unknown = [...renderedFiles()].flatMap(([path, text]) =>
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

  it("can be filtered by protocol, chain and variant", () => {
    const names = new Map(
      boards.map(({ uid, templating }) => [uid, templating.list.map(({ name }) => name)]),
    );

    expect(names.get("synclag-fleet")).toEqual(expect.arrayContaining(["protocol", "chain", "variant"]));
    expect(names.get("synclag-chain")).toEqual(expect.arrayContaining(["protocol", "chain", "variant"]));
    expect(names.get("synclag-endpoint")).toEqual(
      expect.arrayContaining(["protocol", "variant", "endpoint"]),
    );
    expect(names.get("synclag-itself")).toContain("instance");
  });

  it("uses only variables that it has", () => {
    const unknown = panels.flatMap(({ uid, title, targets = [] }) => {
      const own = boards.find((board) => board.uid === uid)?.templating.list.map(({ name }) => name) ?? [];
      return targets
        .flatMap(({ expr }) => [...expr.matchAll(/\$([a-z_]\w*)/g)].map(([, name = ""]) => name))
        .filter((name) => ![...own, "__rate_interval"].includes(name))
        .map((name) => `${uid}: ${title}: ${name}`);
    });

    expect(unknown).toEqual([]);
  });
});

describe("STATUSES_BY_URGENCY", () => {
  it("ranks every status once", () => {
    expect(STATUSES_BY_URGENCY.map(({ status }) => status).toSorted()).toEqual(STATUSES.toSorted());
  });
});

function metricsIn(text: string): readonly string[] {
  return [...new Set(text.match(/\bsynclag_[a-z_]+\b/g))];
}
