import { z } from "zod";
import { ReportSchema } from "../../core/model/report-schema.ts";
import * as replies from "./api-schema.ts";
import { QUERIES } from "./queries.ts";

/** A part of an OpenAPI document. */
type OpenapiObject = Readonly<Record<string, unknown>>;

const SCHEMAS = {
  Status: ReportSchema,
  Health: replies.HealthSchema,
  ProtocolHealth: replies.ProtocolHealthSchema,
  History: replies.HistorySchema,
  Events: replies.EventsSchema,
  Incidents: replies.IncidentsSchema,
  StatusHistory: replies.StatusHistorySchema,
  Problem: replies.ProblemSchema,
  Openapi: z.looseObject({ openapi: z.string() }),
};

interface Route {
  readonly id: string;
  readonly summary: string;
  /** The schema of the query; absent: parameters are ignored. */
  readonly query?: keyof typeof QUERIES;
  /** The schema of its replies other than problems; absent: they are text. */
  readonly json?: keyof typeof SCHEMAS;
  /** Its replies in addition to the usual ones: 200, 400 for an invalid query, 404 for an unknown name in the path. */
  readonly replies?: Readonly<Record<string, string>>;
}

/** The routes for programs, by method and path. */
const ROUTES: Readonly<Record<string, Route>> = {
  "GET /api/v1/status": {
    id: "getStatus",
    summary: "The status of every target",
    query: "none",
    json: "Status",
  },
  "GET /api/v1/status/{protocol}/{chain}": {
    id: "getPairStatus",
    summary: "The status of one protocol on one chain: every list is limited to that pair",
    query: "none",
    json: "Status",
  },
  "GET /api/v1/health/{protocol}/{chain}": {
    id: "getHealth",
    summary: "Whether traffic can be sent there, and which variant is freshest",
    query: "health",
    json: "Health",
    replies: { "503": "No selected variant is ok and within max_lag" },
  },
  "GET /api/v1/health/{protocol}": {
    id: "getProtocolHealth",
    summary: "Whether traffic can be sent to a protocol on all its chains",
    query: "health",
    json: "ProtocolHealth",
    replies: { "503": "On some chain no selected variant is ok and within max_lag" },
  },
  "GET /api/v1/history/{protocol}/{chain}": {
    id: "getHistory",
    summary:
      "The recent history of one protocol on one chain, as the page of the chain plots it, the oldest point first",
    query: "history",
    json: "History",
  },
  "GET /api/v1/status/{protocol}/{chain}/history": {
    id: "getStatusHistory",
    summary:
      "The past states of a protocol on a chain and of its targets, the latest first, and their availability",
    query: "statusHistory",
    json: "StatusHistory",
  },
  "GET /api/v1/events": {
    id: "getEvents",
    summary:
      "The events of the last 30 days, the latest first. Without kind or status, these are left out: changes from unknown to ok, changes of pairs between states other than down, and incidents of one pair or target",
    query: "events",
    json: "Events",
  },
  "GET /api/v1/incidents": {
    id: "getIncidents",
    summary: "The present incidents and those of the last 30 days, the latest first",
    query: "incidents",
    json: "Incidents",
  },
  "GET /openapi.json": { id: "getOpenapi", summary: "This API in OpenAPI 3.1", json: "Openapi" },
  "GET /metrics": { id: "getMetrics", summary: "Metrics for Prometheus, in text format 0.0.4" },
  "GET /-/healthy": {
    id: "getHealthy",
    summary: "Whether the poll loop makes progress",
    replies: { "503": "The poll loop is stuck" },
  },
  "GET /-/ready": {
    id: "getReady",
    summary: "Whether every indexer has completed its first round",
    replies: { "503": "Some indexers have not completed it, or the daemon is shutting down" },
  },
  "POST /-/reload": {
    id: "reload",
    summary: "Reloads chains.yaml",
    replies: {
      "403": "Started without --enable-lifecycle",
      "422": "The file is invalid; the current configuration is kept",
    },
  },
};

const ABOUT = "All replies come from memory: a request never polls an indexer or uses budget.";

/** The OpenAPI 3.1 document of `/openapi.json`. */
export function openapiDocument(version: string): OpenapiObject {
  const paths = Object.entries(ROUTES).map(([name, route]) => {
    const [method = "", path = ""] = name.split(" ");
    const responses = mapValues(repliesOf(path, route), (text, status) => responseOf(route, status, text));
    const operation = { operationId: route.id, summary: route.summary, responses };
    return [path, { parameters: parametersOf(path, route), [method.toLowerCase()]: operation }];
  });
  return {
    openapi: "3.1.0",
    info: { title: "Synclag", version, description: ABOUT },
    paths: Object.fromEntries(paths),
    components: { schemas: mapValues(SCHEMAS, replySchema) },
  };
}

function mapValues<In, Out>(values: Readonly<Record<string, In>>, map: (value: In, name: string) => Out) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}

/** The routes for people, as Markdown. */
export function apiMarkdown(): string {
  const sections = Object.entries(ROUTES).flatMap(([name, route]) => {
    const parameters = parametersOf(name, route).map(
      ({ name: parameter, description, schema: { default: usual } }) =>
        `- \`${parameter}\`: ${description}${usual === undefined ? "" : ` (default ${JSON.stringify(usual)})`}`,
    );
    const replies = Object.entries(repliesOf(name, route))
      .filter(([, text]) => text !== route.summary)
      .map(([status, text]) => `- ${status}: ${text}`);
    const listed = replies.length === 0 ? [] : ["Replies:", replies.join("\n")];
    return [`## \`${name}\``, `${route.summary}.`, parameters.join("\n"), ...listed];
  });
  return ["# API", `${ABOUT} Programs read [/openapi.json](/openapi.json).`, ...sections]
    .filter((block) => block !== "")
    .join("\n\n");
}

const IN_PATH: Readonly<Record<string, string>> = {
  protocol: "As named in chains.yaml",
  chain: "The slug of the chain",
};

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required?: boolean;
  readonly description: string;
  readonly schema: OpenapiObject;
}

/** The parameters in the path, then the parameters of the query. */
function parametersOf(path: string, { query }: Route): readonly Parameter[] {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]): Parameter => {
    return { name, in: "path", required: true, description: IN_PATH[name] ?? "", schema: { type: "string" } };
  });
  const { properties = {} } = query === undefined ? {} : z.toJSONSchema(QUERIES[query], { io: "input" });
  const inQuery = Object.entries(properties).map(([name, property]): Parameter => {
    const { description = "", ...schema } = typeof property === "object" ? property : {};
    return { name, in: "query", description, schema };
  });
  return [...inPath, ...inQuery];
}

/** The replies of a route by their HTTP status. */
function repliesOf(path: string, { query, replies, summary }: Route): Readonly<Record<string, string>> {
  return {
    "200": summary,
    ...(query && { "400": "A parameter is invalid" }),
    ...(path.includes("{") && { "404": "A name does not exist; the detail lists the names that do" }),
    ...replies,
  };
}

function responseOf({ json }: Route, status: string, description: string) {
  const isProblem = status >= "400" && !(status === "503" && json !== undefined);
  if (json === undefined && !isProblem) {
    return { description, content: { "text/plain": { schema: { type: "string" } } } };
  }
  const type = isProblem ? "application/problem+json" : "application/json";
  const schema = { $ref: `#/components/schemas/${isProblem ? "Problem" : json}` };
  return { description, content: { [type]: { schema } } };
}

/** A JSON Schema without the parts that OpenAPI implies (`$schema`) or repeats (the pattern of a `format`). */
function replySchema(schema: z.ZodType): OpenapiObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    override: ({ jsonSchema: part }) => {
      if (part.format !== undefined) {
        delete part.pattern;
      }
      // A property with a default may be absent when a reply is read, but the server always sends it.
      delete part.default;
      if (part.properties !== undefined) {
        part.required = Object.keys(part.properties);
      }
    },
  });
  return rest;
}
