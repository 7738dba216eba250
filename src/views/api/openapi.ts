import { HEALTH_SCHEMA, HISTORY_SCHEMA, type JsonSchema, PROBLEM_SCHEMA, STATUS_SCHEMA } from "./schemas.ts";

interface Responses {
  readonly [httpStatus: string]: JsonSchema;
}

const PROTOCOL = pathParameter("protocol", "What is indexed, as in chains.yaml");
const CHAIN = pathParameter("chain", "The chain's slug");

const VARIANT = {
  name: "variant",
  in: "query",
  description: "Looks at this variant alone; without it, any will do",
  schema: { type: "string" },
};

const TIER = {
  name: "tier",
  in: "query",
  description:
    "Looks at this tier alone, such as production: without it, a testing URL that is well makes its variant healthy",
  schema: { type: "string" },
};

const MAX_LAG = {
  name: "max_lag",
  in: "query",
  description:
    "Seconds that a variant may be behind the reference or, where none exists, may have stood still",
  schema: { type: "number", minimum: 0, default: 600 },
};

const HOURS = {
  name: "hours",
  in: "query",
  description: "How far back",
  schema: { type: "number", exclusiveMinimum: 0, maximum: 999.999, default: 24 },
};

const POINTS = {
  name: "points",
  in: "query",
  description:
    "Of more instants, neighbours are told as one: the last height, the longest lag, the widest gap",
  schema: { type: "integer", minimum: 1, maximum: 99_999, default: 10_000 },
};

/** The OpenAPI 3.1 document of `/openapi.json`. */
export function openapiDocument(version: string): JsonSchema {
  return {
    openapi: "3.1.0",
    info: {
      title: "Synclag",
      version,
      description:
        "The sync health of blockchain indexers. No request waits for an indexer or spends budget.",
    },
    paths: { ...API_PATHS, ...MANAGEMENT_PATHS },
    components: {
      schemas: {
        Status: STATUS_SCHEMA,
        Health: HEALTH_SCHEMA,
        History: HISTORY_SCHEMA,
        Problem: PROBLEM_SCHEMA,
      },
    },
  };
}

const API_PATHS = {
  "/api/v1/status": {
    get: operation("getStatus", "Everything that is known", { "200": json("Status", "What is known now") }),
  },
  "/api/v1/status/{protocol}/{chain}": {
    parameters: [PROTOCOL, CHAIN],
    get: operation("getPairStatus", "What is known of one protocol on one chain, every list filtered", {
      "200": json("Status", "What is known now"),
      "404": problem("Nobody watches that pair; the detail names what exists"),
    }),
  },
  "/api/v1/health/{protocol}/{chain}": {
    parameters: [PROTOCOL, CHAIN, VARIANT, TIER, MAX_LAG],
    get: operation("getHealth", "Whether traffic may go there, and which variant is the freshest", {
      "200": json("Health", "A variant, or the named one, is ok and close enough"),
      "400": problem("max_lag is no number of seconds"),
      "404": problem("Nobody watches that protocol, chain, variant and tier; the detail names what exists"),
      "503": json("Health", "None is"),
    }),
  },
  "/api/v1/history/{protocol}/{chain}": {
    parameters: [PROTOCOL, CHAIN, HOURS, POINTS],
    get: operation("getHistory", "The past of one protocol on one chain, as the plots show it", {
      "200": json("History", "Two hours by 15 s, a day by the minute"),
      "400": problem("hours or points is no such number"),
      "404": problem("Nobody watches that pair; the detail names what exists"),
    }),
  },
  "/api/v1/events": {
    get: operation("getEvents", "Server-sent events: `report`, when there is something new to see", {
      "200": {
        description: "A number and nothing else each time, every five seconds at the latest",
        content: { "text/event-stream": { schema: { type: "string" } } },
      },
      "503": problem("Too many listen already"),
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
      "200": text("It does"),
      "503": problem("It is stuck"),
    }),
  },
  "/-/ready": {
    get: operation("getReady", "Whether every indexer had its first round", {
      "200": text("All had"),
      "503": problem("Some had not, or the daemon is shutting down"),
    }),
  },
  "/-/reload": {
    post: operation("reload", "Reads chains.yaml anew", {
      "200": text("Done"),
      "403": problem("Started without --enable-lifecycle"),
      "422": problem("The file cannot be used; nothing has changed"),
    }),
  },
} as const;

function operation(operationId: string, summary: string, responses: Responses): JsonSchema {
  return { operationId, summary, responses };
}

function pathParameter(name: string, description: string): JsonSchema {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}

function json(name: "Status" | "Health" | "History", description: string): JsonSchema {
  const schema = { $ref: `#/components/schemas/${name}` };
  return { description, content: { "application/json": { schema } } };
}

function text(description: string): JsonSchema {
  return { description, content: { "text/plain": { schema: { type: "string" } } } };
}

function problem(description: string): JsonSchema {
  const schema = { $ref: "#/components/schemas/Problem" };
  return { description, content: { "application/problem+json": { schema } } };
}
