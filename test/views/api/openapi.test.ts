import { describe, expect, it } from "vitest";
import { z } from "zod";
import { filterStatus } from "../../../src/views/api/filter-status.ts";
import { healthJson } from "../../../src/views/api/health.ts";
import { historyJson, historyTargets } from "../../../src/views/api/history.ts";
import { openapiDocument } from "../../../src/views/api/openapi.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { defaultFleetReport } from "../default-fleet-report.ts";
import { NOW_MS, sampleChainReport, sampleTarget } from "../sample-report.ts";

const OpenapiSchemas = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });

const REPORT = defaultFleetReport({
  incidents: [
    {
      scope: "chain",
      subject: "base",
      sinceMs: NOW_MS,
      detail: "All are late",
      targets: [sampleTarget().key],
    },
  ],
});

describe("the published Status schema", () => {
  it("describes what statusJson() makes, to the last key", () => {
    expect(check("Status", statusJson(REPORT))).toEqual([]);
    expect(check("Status", filterStatus(statusJson(REPORT), "lockup", "base"))).toEqual([]);
  });

  it("describes unknown as null", () => {
    const chains = [sampleChainReport({ reference: null, blockIntervalMs: null })];

    expect(check("Status", statusJson({ ...REPORT, chains }))).toEqual([]);
  });

  it.each([
    { mistake: { generated_at: "yesterday" }, path: "generated_at" },
    { mistake: { targets: [{ protocol: "lockup" }] }, path: "targets" },
    { mistake: { extra: 1 }, path: "" },
    { mistake: { gaps: undefined }, path: "gaps" },
  ])("refuses a status with $mistake", ({ mistake, path }) => {
    const paths = check("Status", { ...statusJson(REPORT), ...mistake });

    expect(paths[0]?.split(".")[0]).toBe(path);
  });
});

describe("the published Health schema", () => {
  it.each([
    { protocol: "lockup", chain: "base", maxLagMs: 600_000 },
    { protocol: "lockup", chain: "morph", maxLagMs: 600_000, variant: "multichain" },
  ])("describes what healthJson() makes of $protocol/$chain", (query) => {
    expect(check("Health", healthJson(REPORT, query))).toEqual([]);
  });
});

describe("the published History schema", () => {
  it("describes what historyJson() makes", () => {
    const wanted = historyTargets(REPORT, "lockup", "base");
    const column = [null, 1.5];
    const target = { block: [null, 7], lagMs: column, gapBlocks: column, uncertaintyBlocks: column };
    const targets = Object.fromEntries((wanted?.keys ?? []).map((key) => [key, target]));
    const past = { timesMs: [NOW_MS - 1_000, NOW_MS], reference: [null, 8], targets };

    const json = wanted && historyJson("lockup", wanted.chainReport, { past, nowMs: NOW_MS });

    expect(check("History", json)).toEqual([]);
    expect(json?.targets).toHaveLength(3);
  });
});

describe("the published Problem schema", () => {
  it("describes problem details", () => {
    const problem = { type: "about:blank", title: "Not Found", status: 404, detail: "Cannot find it" };

    expect(check("Problem", problem)).toEqual([]);
    expect(check("Problem", { ...problem, status: 200 })).toEqual(["status"]);
  });
});

describe("openapiDocument()", () => {
  const text = JSON.stringify(openapiDocument("1.2.3"));

  it("names the routes of the API and the version", () => {
    const document = openapiDocument("1.2.3");

    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "1.2.3" } });
    expect(Object.keys(document["paths"] ?? {})).toEqual([
      "/api/v1/status",
      "/api/v1/status/{protocol}/{chain}",
      "/api/v1/health/{protocol}/{chain}",
      "/api/v1/history/{protocol}/{chain}",
      "/openapi.json",
      "/metrics",
      "/-/healthy",
      "/-/ready",
      "/-/reload",
    ]);
  });

  it("refers only to schemas that it holds, and to each", () => {
    const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);

    expect([...new Set(references)].sort()).toEqual(["Health", "History", "Problem", "Status"]);
  });

  it("gives each operation an id of its own, and each path its parameters", () => {
    const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);

    expect(new Set(ids).size).toBe(9);
    for (const [path, item] of Object.entries(openapiDocument("1.2.3")["paths"] ?? {})) {
      const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = (item.parameters ?? []).filter((one: { in: string }) => one.in === "path");
      expect(described.map((one: { name: string }) => one.name)).toEqual(placeholders);
    }
  });
});

/** Paths of what does not match a schema of `/openapi.json`; keys that the schema lacks count as mistakes too. */
function check(name: string, value: unknown): readonly string[] {
  const { components } = OpenapiSchemas.parse(openapiDocument("1.2.3"));
  const closed: unknown = JSON.parse(JSON.stringify(components.schemas[name]), (_key, part: unknown) =>
    isObjectSchema(part) ? { ...part, additionalProperties: false } : part,
  );
  // A schema of ours, to which a keyword was added.
  const result = z
    .fromJSONSchema(closed as z.core.JSONSchema.JSONSchema)
    .safeParse(JSON.parse(JSON.stringify(value)));
  return result.success ? [] : result.error.issues.map(({ path }) => path.join("."));
}

function isObjectSchema(part: unknown): part is object {
  return typeof part === "object" && part !== null && "properties" in part && "required" in part;
}
