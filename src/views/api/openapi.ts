import { z } from "zod";
import { ReportSchema } from "../../core/model/report-schema.ts";
import { HealthSchema, HistorySchema, ProblemSchema } from "./api-schema.ts";

/** A part of an OpenAPI document. */
type OpenapiObject = Readonly<Record<string, unknown>>;

const PROTOCOL = pathParameter("protocol", "As named in chains.yaml");
const CHAIN = pathParameter("chain", "The slug of the chain");

const VARIANT = {
  name: "variant",
  in: "query",
  description: "Considers only this variant; by default any of them",
  schema: { type: "string" },
};

const TIER = {
  name: "tier",
  in: "query",
  description:
    "Considers only this tier; a protocol without a production tier on the chain defaults to all its tiers",
  schema: { type: "string", default: "production" },
};

const MAX_LAG = {
  name: "max_lag",
  in: "query",
  description:
    "How many seconds a variant may be behind the reference or, if there is none, may go without advancing. Default: the lagging threshold of the chain",
  schema: { type: "number", minimum: 0 },
};

const PARITY = {
  name: "parity",
  in: "query",
  description:
    "equal: a variant whose data differ from another variant's is not healthy, or only the odd one out where more than two were compared",
  schema: { type: "string", enum: ["equal"] },
};

const HOURS = {
  name: "hours",
  in: "query",
  description: "How far back to go",
  schema: { type: "number", exclusiveMinimum: 0, maximum: 999.999, default: 24 },
};

const POINTS = {
  name: "points",
  in: "query",
  description:
    "The maximum number of rows; adjacent rows are merged, keeping the last height, the longest lag and the widest gap",
  schema: { type: "integer", minimum: 1, maximum: 99_999, default: 10_000 },
};

/** The OpenAPI 3.1 document of `/openapi.json`. */
export function openapiDocument(version: string): OpenapiObject {
  return {
    openapi: "3.1.0",
    info: {
      title: "Synclag",
      version,
      description:
        "The sync health of blockchain indexers. All answers come from memory: a request never polls an indexer or uses budget.",
    },
    paths: { ...API_PATHS, ...MANAGEMENT_PATHS },
    components: {
      schemas: {
        Status: jsonSchema(ReportSchema),
        Health: jsonSchema(HealthSchema),
        History: jsonSchema(HistorySchema),
        Problem: jsonSchema(ProblemSchema),
      },
    },
  };
}

/** Without what OpenAPI implies (`$schema`) or says shorter (the pattern of a `format`). */
function jsonSchema(schema: z.ZodType): OpenapiObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    override: ({ jsonSchema: part }) => {
      if (part.format !== undefined) {
        delete part.pattern;
      }
      // What a reader may do without is always there.
      delete part.default;
      if (part.properties !== undefined) {
        part.required = Object.keys(part.properties);
      }
    },
  });
  return rest;
}

const UNKNOWN_PAIR = problem("No such protocol or chain; the detail lists those that exist");

const API_PATHS = {
  "/api/v1/status": {
    get: operation("getStatus", "The status of every target", {
      "200": json("Status", "The current status"),
    }),
  },
  "/api/v1/status/{protocol}/{chain}": {
    parameters: [PROTOCOL, CHAIN],
    get: operation("getPairStatus", "The status of one protocol on one chain, every list filtered", {
      "200": json("Status", "The current status"),
      "404": UNKNOWN_PAIR,
    }),
  },
  "/api/v1/health/{protocol}/{chain}": {
    parameters: [PROTOCOL, CHAIN, VARIANT, TIER, MAX_LAG, PARITY],
    get: operation("getHealth", "Whether traffic can be sent there, and which variant is freshest", {
      "200": json("Health", "A considered variant is ok and within max_lag"),
      "400": problem("A parameter is invalid"),
      "404": problem("No such protocol, chain, variant or tier; the detail lists those that exist"),
      "503": json("Health", "No considered variant is ok and within max_lag"),
    }),
  },
  "/api/v1/history/{protocol}/{chain}": {
    parameters: [PROTOCOL, CHAIN, HOURS, POINTS],
    get: operation("getHistory", "The recent history of one protocol on one chain, as plotted on its page", {
      "200": json("History", "Oldest row first"),
      "400": problem("A parameter is invalid"),
      "404": UNKNOWN_PAIR,
    }),
  },
  "/openapi.json": {
    get: operation("getOpenapi", "This document", {
      "200": { description: "OpenAPI 3.1", content: { "application/json": { schema: { type: "object" } } } },
    }),
  },
} as const;

const MANAGEMENT_PATHS = {
  "/metrics": {
    get: operation("getMetrics", "Metrics for Prometheus", { "200": text("Text format 0.0.4") }),
  },
  "/-/healthy": {
    get: operation("getHealthy", "Whether the poll loop makes progress", {
      "200": text("The poll loop makes progress"),
      "503": problem("The poll loop is stuck"),
    }),
  },
  "/-/ready": {
    get: operation("getReady", "Whether every indexer has completed its first round", {
      "200": text("Every indexer has completed its first round"),
      "503": problem("Some indexers have not, or the daemon is shutting down"),
    }),
  },
  "/-/reload": {
    post: operation("reload", "Reloads chains.yaml", {
      "200": text("Reloaded"),
      "403": problem("Started without --enable-lifecycle"),
      "422": problem("The file is invalid; the current configuration is kept"),
    }),
  },
} as const;

interface Responses {
  readonly [httpStatus: string]: OpenapiObject;
}

function operation(operationId: string, summary: string, responses: Responses): OpenapiObject {
  return { operationId, summary, responses };
}

function pathParameter(name: string, description: string): OpenapiObject {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}

function json(name: "Status" | "Health" | "History", description: string): OpenapiObject {
  const schema = { $ref: `#/components/schemas/${name}` };
  return { description, content: { "application/json": { schema } } };
}

function text(description: string): OpenapiObject {
  return { description, content: { "text/plain": { schema: { type: "string" } } } };
}

function problem(description: string): OpenapiObject {
  const schema = { $ref: "#/components/schemas/Problem" };
  return { description, content: { "application/problem+json": { schema } } };
}
