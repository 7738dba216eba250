import { z } from "zod";
import { EVENT_KINDS } from "../../core/events/event.ts";
import { ReportSchema } from "../../core/model/report-schema.ts";
import { HealthSchema, HistorySchema, ProblemSchema, ProtocolHealthSchema } from "./api-schema.ts";
import { EventsSchema, IncidentsSchema, StatusHistorySchema } from "./events.ts";

/** A part of an OpenAPI document. */
type OpenapiObject = Readonly<Record<string, unknown>>;

const SCHEMAS = {
  Status: ReportSchema,
  Health: HealthSchema,
  ProtocolHealth: ProtocolHealthSchema,
  History: HistorySchema,
  Events: EventsSchema,
  Incidents: IncidentsSchema,
  StatusHistory: StatusHistorySchema,
  Problem: ProblemSchema,
};

/** What a path takes and replies. */
interface PathItem {
  readonly parameters?: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema: OpenapiObject;
  }[];
  readonly get?: Operation;
  readonly post?: Operation;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const ABOUT =
  "The sync health of blockchain indexers. All answers come from memory: a request never polls an indexer or uses budget.";

/** The OpenAPI 3.1 document of `/openapi.json`. */
export function openapiDocument(version: string): OpenapiObject {
  return {
    openapi: "3.1.0",
    info: { title: "Synclag", version, description: ABOUT },
    paths: PATHS,
    components: {
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, jsonSchema(schema)]),
      ),
    },
  };
}

/** The routes for people, as Markdown. */
export function apiMarkdown(): string {
  const sections = Object.entries(PATHS).flatMap(([path, { parameters = [], get: read, post }]) => {
    const operation = read ?? post;
    const title = `## \`${read === undefined ? "POST" : "GET"} ${path}\``;
    const listed = parameters.map(({ name, description, schema: { default: usual } }) =>
      usual === undefined
        ? `- \`${name}\`: ${description}`
        : `- \`${name}\`: ${description} (default ${JSON.stringify(usual)})`,
    );
    const replies = Object.entries(operation?.responses ?? {}).map(
      ([status, reply]) => `- ${status}: ${reply.description}`,
    );
    return [title, `${operation?.summary ?? ""}.`, listed.join("\n"), "Replies:", replies.join("\n")];
  });
  return ["# API", `${ABOUT} Programs read [/openapi.json](/openapi.json).`, ...sections]
    .filter((block) => block !== "")
    .join("\n\n");
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

const TEXT = { type: "string" };
const PROTOCOL = parameter("path", "protocol", "As named in chains.yaml", TEXT);
const PAIR = [PROTOCOL, parameter("path", "chain", "The slug of the chain", TEXT)];

const HEALTH_QUERY = [
  query("variant", "Considers only this variant; by default any of them", TEXT),
  query(
    "tier",
    "Considers only this tier; a protocol without a production tier on the chain defaults to all its tiers",
    { type: "string", default: "production" },
  ),
  query(
    "max_lag",
    "How many seconds a variant may be behind the reference or, if there is none, may go without advancing. Default: the lagging threshold of the chain",
    { type: "number", minimum: 0 },
  ),
  query(
    "parity",
    "equal: a variant whose data differ from another variant's is not healthy, or only the odd one out where more than two were compared",
    { type: "string", enum: ["equal"] },
  ),
];

const HISTORY_QUERY = [
  query("hours", "How far back to go", {
    ...{ type: "number", exclusiveMinimum: 0, maximum: 999.999, default: 24 },
  }),
  query(
    "points",
    "The maximum number of rows; adjacent rows are merged, keeping the last height, the longest lag and the widest gap",
    { type: "integer", minimum: 1, maximum: 99_999, default: 10_000 },
  ),
];

const TIME = "An ISO 8601 time, or how long ago, such as 24h or 7d";
const EVENT_QUERY = [
  ...spanQuery("24h", 200),
  query("kind", "Only events of this kind", { type: "string", enum: EVENT_KINDS }),
  ...["protocol", "chain", "variant", "tier", "host"].map((name) =>
    query(name, `Only events of targets of this ${name}`, TEXT),
  ),
  query("status", "Only changes from or to this status", TEXT),
];

const UNKNOWN_PAIR = problem("No such protocol or chain; the detail lists those that exist");
const INVALID = problem("A parameter is invalid");

const PATHS: Readonly<Record<string, PathItem>> = {
  "/api/v1/status": get("getStatus", "The status of every target", [], {
    "200": json("Status", "The current status"),
  }),
  "/api/v1/status/{protocol}/{chain}": get(
    "getPairStatus",
    "The status of one protocol on one chain, every list filtered",
    PAIR,
    { "200": json("Status", "The current status"), "404": UNKNOWN_PAIR },
  ),
  "/api/v1/health/{protocol}/{chain}": get(
    "getHealth",
    "Whether traffic can be sent there, and which variant is freshest",
    [...PAIR, ...HEALTH_QUERY],
    {
      "200": json("Health", "A considered variant is ok and within max_lag"),
      "400": INVALID,
      "404": problem("No such protocol, chain, variant or tier; the detail lists those that exist"),
      "503": json("Health", "No considered variant is ok and within max_lag"),
    },
  ),
  "/api/v1/health/{protocol}": get(
    "getProtocolHealth",
    "Whether traffic can be sent to a protocol on all its chains",
    [PROTOCOL, ...HEALTH_QUERY],
    {
      "200": json("ProtocolHealth", "On each chain a considered variant is ok and within max_lag"),
      "400": INVALID,
      "404": problem("No such protocol, variant or tier; the detail lists those that exist"),
      "503": json("ProtocolHealth", "On some chain no considered variant is ok and within max_lag"),
    },
  ),
  "/api/v1/history/{protocol}/{chain}": get(
    "getHistory",
    "The recent history of one protocol on one chain, as plotted on its page",
    [...PAIR, ...HISTORY_QUERY],
    { "200": json("History", "Oldest row first"), "400": INVALID, "404": UNKNOWN_PAIR },
  ),
  "/api/v1/status/{protocol}/{chain}/history": get(
    "getStatusHistory",
    "What one protocol on one chain and its targets were, and how available",
    [...PAIR, ...spanQuery("24h", 1_000)],
    { "200": json("StatusHistory", "The latest period first"), "400": INVALID, "404": UNKNOWN_PAIR },
  ),
  "/api/v1/events": get(
    "getEvents",
    "What happened in the last 30 days. Without kind or status: no changes from unknown to ok, and of pairs only those from or to down",
    EVENT_QUERY,
    { "200": json("Events", "The latest event first"), "400": INVALID },
  ),
  "/api/v1/incidents": get(
    "getIncidents",
    "The incidents of the last 30 days, and those that go on",
    spanQuery("7d", 200),
    { "200": json("Incidents", "The latest incident first"), "400": INVALID },
  ),
  "/openapi.json": get("getOpenapi", "This document", [], {
    "200": content("application/json", "OpenAPI 3.1", { type: "object" }),
  }),
  "/metrics": get("getMetrics", "Metrics for Prometheus", [], { "200": text("Text format 0.0.4") }),
  "/-/healthy": get("getHealthy", "Whether the poll loop makes progress", [], {
    "200": text("The poll loop makes progress"),
    "503": problem("The poll loop is stuck"),
  }),
  "/-/ready": get("getReady", "Whether every indexer has completed its first round", [], {
    "200": text("Every indexer has completed its first round"),
    "503": problem("Some indexers have not, or the daemon is shutting down"),
  }),
  "/-/reload": {
    post: {
      operationId: "reload",
      summary: "Reloads chains.yaml",
      responses: {
        "200": text("Reloaded"),
        "403": problem("Started without --enable-lifecycle"),
        "422": problem("The file is invalid; the current configuration is kept"),
      },
    },
  },
};

function spanQuery(from: string, limit: number) {
  return [
    query("from", TIME, { type: "string", default: from }),
    query("to", `${TIME}. Default: now`, TEXT),
    query("limit", "The maximum number of items of a list, the latest", {
      ...{ type: "integer", minimum: 1, maximum: 10_000, default: limit },
    }),
  ];
}

function get(
  operationId: string,
  summary: string,
  parameters: NonNullable<PathItem["parameters"]>,
  responses: Operation["responses"],
): PathItem {
  const operation = { get: { operationId, summary, responses } };
  return parameters.length === 0 ? operation : { parameters, ...operation };
}

function parameter(place: "path" | "query", name: string, description: string, schema: OpenapiObject) {
  return { name, in: place, description, schema, ...(place === "path" && { required: true }) };
}

function query(name: string, description: string, schema: OpenapiObject) {
  return parameter("query", name, description, schema);
}

function json(name: keyof typeof SCHEMAS, description: string) {
  return content("application/json", description, { $ref: `#/components/schemas/${name}` });
}

function text(description: string) {
  return content("text/plain", description, { type: "string" });
}

function problem(description: string) {
  return content("application/problem+json", description, { $ref: "#/components/schemas/Problem" });
}

function content(type: string, description: string, schema: OpenapiObject) {
  return { description, content: { [type]: { schema } } };
}
