import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { healthJson, protocolHealthJson } from "../../../src/views/api/health.ts";
import { historyJson } from "../../../src/views/api/history.ts";
import { openapiDocument } from "../../../src/views/api/openapi.ts";
import { keepTargets, selectTargets } from "../../../src/views/api/selection.ts";
import { fleetReport } from "../fleet-report.ts";
import { NOW_MS, sampleChainReport, sampleReport } from "../sample-report.ts";

const OpenapiSchemas = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });

const schemaOrReference = z.union([
  z.strictObject({ $ref: z.string().regex(/^#\/components\/schemas\/\w+$/) }),
  z.looseObject({ type: z.enum(["string", "number", "integer", "object", "array", "boolean"]) }),
]);

const parameter = z
  .strictObject({
    name: z.string(),
    in: z.enum(["path", "query", "header", "cookie"]),
    required: z.boolean().optional(),
    description: z.string(),
    schema: schemaOrReference,
  })
  .refine((one) => one.in !== "path" || one.required === true, "a path parameter is required");

const operation = z.strictObject({
  operationId: z.string(),
  summary: z.string(),
  parameters: z.array(parameter).optional(),
  responses: z.record(
    z.string().regex(/^[1-5]\d\d$/),
    z.strictObject({
      description: z.string().min(1),
      content: z.record(z.string().regex(/^\w+\/[\w.+-]+$/), z.strictObject({ schema: schemaOrReference })),
    }),
  ),
});

/** What of OpenAPI 3.1.0 a document of ours may use: https://spec.openapis.org/oas/v3.1.0.html. */
const openapi = z.strictObject({
  openapi: z.literal("3.1.0"),
  info: z.strictObject({ title: z.string(), version: z.string(), description: z.string().optional() }),
  paths: z.record(
    z.string().startsWith("/"),
    z.strictObject({
      parameters: z.array(parameter).optional(),
      get: operation.optional(),
      post: operation.optional(),
    }),
  ),
  components: z.strictObject({ schemas: z.record(z.string().regex(/^[\w.-]+$/), z.looseObject({})) }),
});

const REPORT = fleetReport();

describe("the published schemas", () => {
  it("describe every key of the replies", () => {
    const varied: unknown = JSON.parse(readFileSync("test/goldens/every-status.status.json", "utf8"));
    const unknown = [sampleChainReport({ reference: null, block_interval_seconds: null })];
    const targets = selectTargets(REPORT.targets, { protocol: "lockup", chain: "base" });
    const column = [null, 1.5];
    const target = { block: [null, 7], lagMs: column, gapBlocks: column, uncertaintyBlocks: column };
    const past = {
      timesMs: [NOW_MS - 1_000, NOW_MS],
      reference: [null, 8],
      targets: Object.fromEntries(targets.map(({ key }) => [key, target])),
    };
    const morph = { protocol: "lockup", chain: "morph", max_lag: 600, variant: "multichain" };

    expect([
      check("Status", varied),
      check("Status", keepTargets(REPORT, targets)),
      check("Status", sampleReport({ chains: unknown })),
      check("Health", healthJson(REPORT, { protocol: "lockup", chain: "base", max_lag: 600 })),
      check("Health", healthJson(REPORT, morph)),
      check("ProtocolHealth", protocolHealthJson(REPORT, { protocol: "lockup" })),
      check("History", historyJson(REPORT, targets, past)),
      check("Problem", { type: "about:blank", title: "Not Found", status: 404, detail: "Cannot find it" }),
    ]).toEqual([[], [], [], [], [], [], [], []]);
  });
});

describe("openapiDocument()", () => {
  it("is a valid document of OpenAPI 3.1", () => {
    const result = openapi.safeParse(JSON.parse(JSON.stringify(openapiDocument("1.2.3"))));

    expect(result.error?.issues ?? []).toEqual([]);
  });

  const text = JSON.stringify(openapiDocument("1.2.3"));

  it("has a unique id for each operation, and the parameters of each path", () => {
    const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);

    expect(new Set(ids).size).toBe(13);
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
