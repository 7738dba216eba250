import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openapiDocument } from "../../../src/views/api/openapi.ts";

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

describe("openapiDocument()", () => {
  it("is a document of OpenAPI 3.1, and holds nothing else", () => {
    const result = openapi.safeParse(JSON.parse(JSON.stringify(openapiDocument("1.2.3"))));

    expect(result.error?.issues ?? []).toEqual([]);
  });

  it.each([
    { mistake: { openapi: "3.0.3" }, path: "openapi" },
    { mistake: { paths: { "/x": { get: { operationId: "x" } } } }, path: "paths" },
    { mistake: { servers: [] }, path: "" },
  ])("would not be with $mistake", ({ mistake, path }) => {
    const result = openapi.safeParse({ ...openapiDocument("1.2.3"), ...mistake });

    expect(result.error?.issues[0]?.path[0] ?? "").toBe(path);
  });

  it("holds schemas that can be used to check an answer", () => {
    const { components } = openapi.parse(openapiDocument("1.2.3"));

    for (const schema of Object.values(components.schemas)) {
      // A document of ours: what is not JSON Schema cannot be read here.
      const shape = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
      expect(shape.safeParse("no object").success).toBe(false);
    }
  });
});
