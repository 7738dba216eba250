import { z } from "zod";
import type { Form } from "../core/model/fleet.ts";
import type { MaintenanceWindow } from "../core/model/maintenance-window.ts";
import { NOTIFY_FORMATS } from "../core/model/notify.ts";
import { DIALECTS, HEAD_DIALECTS, RPC_DIALECT } from "../dialects/families.ts";
import { ParityEntry, Probes } from "./probe-schema.ts";
import {
  ByteSize,
  CronSchedule,
  Delay,
  Duration,
  Interval,
  LagLimit,
  Listen,
  Schedule,
  Until,
} from "./quantities.ts";
import {
  count,
  isNotEmpty,
  LINK,
  listOf,
  map,
  mapOf,
  Name,
  oneOf,
  optional,
  pattern,
  Slug,
  text,
  Url,
  webLink,
} from "./values.ts";

const Flag = z.boolean().meta({ expected: "true or false" });
const Link = z.string().meta({ expected: "a URL, or null for none" }).nullable();
const HeaderText = text("a string; put numbers in quotes").meta({ secret: true });
const Headers = mapOf(HeaderText, "a map of header names and values").meta({ secret: true });
const BudgetName = z.string().meta({ expected: "the name of a budget, or null for none" }).nullable();
const Provider = optional(
  text("a name"),
  "The operator. Sources of one provider count as one source (default: the URL's host).",
);

/** What a chain can override; the other keys of its map are values of placeholders. */
const OVERRIDES = {
  url: optional(Url, "Its own URL. The indexer's headers and budget do not apply to another origin."),
  explorer: optional(Link, "Its own link."),
  playground: optional(Link, "Its own link."),
  schedule: optional(Schedule, "Its own schedule."),
  headers: optional(Headers, "Replaces the indexer's headers."),
  budget: optional(BudgetName, "Its own budget."),
  provider: Provider,
  until: optional(Until, "When the indexer ends on this chain."),
};

/** The keys of a chain's map that are not values of placeholders. */
export const OVERRIDE_KEYS: readonly string[] = Object.keys(OVERRIDES);

const VALUE = `a text without \${…}, or a whole number`;

const ChainValues = z
  .object(OVERRIDES)
  .catchall(
    z
      .union([pattern(/^(?!.*\$\{)/, VALUE), z.int().meta({ expected: VALUE }), z.boolean()])
      .meta({ expected: VALUE })
      .transform(String)
      .describe("The value of the placeholder with this name."),
  )
  .meta({ expected: "a map of placeholder values and overrides" })
  .nullable()
  .transform((values) => values ?? {});

const CHAINS = "a list of chain slugs, or a map of them";
const Chains = z
  .union([
    listOf(Slug, CHAINS).min(1),
    mapOf(ChainValues, CHAINS).refine(isNotEmpty).meta({ minProperties: 1 }),
  ])
  .meta({ expected: CHAINS });

const FIELDS = String.raw`(?:\$|\$key|[\w-]+(?:\.[\w-]+)*)`;
const ReplyPath = replyPath(String.raw`^${FIELDS}(?:\|${FIELDS})*\??$`);
const RowsPath = replyPath(String.raw`^(?:${FIELDS}(?:\.\*)?|\*)$`);
const Query = text("a GraphQL query");
const Queries = z
  .union([Query, listOf(Query, "a GraphQL query").min(1)])
  .meta({ expected: "a GraphQL query" });
const Height = z.union([z.string(), z.number(), z.null()]).meta({ expected: "a text, a number or null" });

const Custom = map("a map with height, and one of query, body or method: GET", {
  method: oneOf(["POST", "GET"]).default("POST").describe("GET sends no body, and reads the whole response."),
  query: optional(Queries, "A query, or a list of queries: the next one is sent if one is refused."),
  body: optional(mapOf(z.unknown(), "a map that is sent as JSON"), "JSON to send instead of a query."),
  root: optional(ReplyPath, "Where paths start (default: data or result); $ is the whole response."),
  rows: optional(
    RowsPath,
    "The list of rows, one per chain; a path that ends in .* is a map of rows (default: one row).",
  ),
  height: ReplyPath.describe("The last processed block."),
  time: optional(ReplyPath, "Its time: ISO 8601, or a number of seconds, or of ms, µs or ns."),
  chain_id: optional(ReplyPath, "The chain of the row: its ID or slug, or a key of chains."),
  chains: optional(
    mapOf(Slug, "a map of words and chain slugs"),
    "A map from the words for chains in the rows to slugs. A row with another word is ignored, unless the word is an ID or a slug.",
  ),
  hash: optional(ReplyPath, "Its hash."),
  deployment: optional(ReplyPath, "The ID of the deployment that replies."),
  failed: optional(ReplyPath, "A field that is true, or not empty, once indexing has failed."),
  not_started: optional(
    listOf(Height, "a list of values"),
    "Heights, in addition to 0, which mean that nothing is indexed yet.",
  ),
})
  .refine(({ chains, chain_id: chainId }) => chains === undefined || chainId !== undefined, {
    path: ["chains"],
  })
  .refine(({ method, query, body }) => {
    const requests = [query, body].filter((content) => content !== undefined).length;
    return requests === (method === "GET" ? 0 : 1);
  })
  // `method` is not kept: a request without a query or a body is a GET.
  .transform(
    ({ method: _, chain_id: chainId, not_started: notStarted, ...rest }): Form => ({
      ...rest,
      chainId,
      notStarted,
    }),
  );

const Metric = pattern(/^[a-zA-Z_:][\w:]*$/, "the name of a metric");
const LabelName = pattern(/^[a-zA-Z_]\w*$/, "the name of a label");
const LabelValues = mapOf(text("a string; put numbers in quotes"), "a map of labels and values");

const Metrics = map("a map with height", {
  height: optional(Metric, "Gauge of the last processed block."),
  time: optional(Metric, "Gauge of its time, in Unix seconds, ms, µs or ns."),
  chain: optional(
    LabelName,
    "Label with the chain: its ID (also as in evm:8453), its slug, or a key of chains (default: the page has one chain).",
  ),
  where: optional(LabelValues, "Labels that a series must have."),
  chains: optional(
    mapOf(Slug, "a map of label values and chain slugs"),
    "A map from values of the label `chain` to slugs, for values that are neither an ID nor a slug.",
  ),
});

const DeploymentId = text("the id of a deployment, or a placeholder such as {deployment}");
const Status = map("a map with url and deployment", {
  url: Url.describe("The index-node API, such as http://graph-node:8030/graphql."),
  deployment: DeploymentId.describe("The deployment."),
});

/** The keys that an indexer and an RPC node share. */
const SHARED_KEYS = {
  custom: optional(Custom, "What dialect [custom](dialects.md#custom) sends and reads."),
  metrics: optional(
    Metrics,
    "Gauges for dialect [metrics](dialects.md#metrics). With another dialect that reads a metrics page, each key here replaces that dialect's own.",
  ),
  headers: Headers.default({}).describe("Sent with every request."),
  provider: Provider,
  budget: optional(BudgetName, "Budget of its requests."),
};

/** Thresholds that an indexer may set for itself. */
const LIMITS = {
  lagging: optional(LagLimit, "Lag from which a target is lagging (default 10m)."),
  critical: optional(LagLimit, "Lag from which it is critical (default 30m)."),
  stalled: optional(Duration, "Time without an advance, at least 50 block times (default 10m)."),
};
const IndexerThresholds = map("a map with lagging, critical or stalled", LIMITS, ["stalled"]);

const IndexerEntry = map(
  "a map with variant, url and chains",
  {
    variant: Name.describe("A way in which the protocol is indexed, such as subgraph."),
    tier: Name.default("production").describe("Which deployment, such as production or testing."),
    dialect: oneOf(Object.keys(DIALECTS))
      .default("auto")
      .describe("The family of the indexer ([list](dialects.md)); auto detects some."),
    url: optional(Url, "One endpoint for all chains or, with a placeholder, one for each."),
    ...SHARED_KEYS,
    status: optional(
      Status,
      "The index-node API of the graph-node. It is asked why a target of dialect graph is not ok.",
    ),
    optional: Flag.default(false).describe("Skip it, with a warning, while one of its variables is not set."),
    explorer: optional(Link, "Page about the indexer."),
    playground: optional(Link, "Page for queries by hand."),
    schedule: Schedule.default("auto").describe("When it is polled; auto: as often as the budget allows."),
    chains: Chains.describe("Chains that it must serve; a chain that the reply lacks is missing."),
    thresholds: IndexerThresholds.prefault({}).describe(
      "Thresholds of its targets that differ from the chain's.",
    ),
    probes: Probes.default({}).describe(
      "Queries that its targets must answer; a target that does not answer one is failed.",
    ),
    until: optional(
      Until,
      "When the indexer ends ([statuses](statuses.md#ended)): a date, from 00:00 UTC of that day, or its last block.",
    ),
  },
  [
    "thresholds",
    "probes",
    "until",
    "dialect",
    "url",
    "custom",
    "metrics",
    "status",
    "explorer",
    "playground",
    "headers",
    "provider",
    "budget",
    "schedule",
  ],
);

const Indexers = listOf(IndexerEntry, "a list of indexers").min(1);

const RpcNode = map("a map with url", {
  url: Url.describe("The node's URL."),
  dialect: oneOf(HEAD_DIALECTS)
    .default(RPC_DIALECT)
    .describe("How the head is read ([list](dialects.md#independent-heads))."),
  ...SHARED_KEYS,
  schedule: optional(Schedule, "When it is polled (default: `poll.rpc_schedule`)."),
});

/** A node of a chain: a map, or its URL alone. */
const RpcEntry = z
  .union([Url.transform((url) => RpcNode.parse({ url })), RpcNode])
  .meta({ expected: "a URL, or a map with url", secret: true });

const Poll = map("a map", {
  concurrency: count(1, 1_000).default(16).describe("Maximum concurrent requests."),
  per_host: count(1, 1_000).default(6).describe("Maximum concurrent requests to one host."),
  timeout: Duration.prefault("10s").describe("Deadline of a request: connect, headers and body together."),
  retries: count(0, 10).default(1).describe("Retries of a failed request; they draw on the same budget."),
  max_response: ByteSize.prefault("1MiB").describe(
    "Larger responses fail. On a metrics page, only the lines that Synclag reads count towards the limit.",
  ),
  rpc_schedule: Schedule.default("*/30 * * * * *").describe("Schedule of `rpc` nodes without their own."),
});

const Thresholds = map(
  "a map with lagging, critical, stalled or stale",
  {
    ...LIMITS,
    stale: optional(
      Duration,
      "An observation that is older is ignored (default 5m; at least the time of 3 polls).",
    ),
  },
  ["stalled", "stale"],
);

const BudgetEntry = map("a map such as { limit: 3000, per: day, scope: endpoint }", {
  limit: count(1).describe("Requests allowed in each period."),
  per: oneOf(["hour", "day", "month"]).describe("The period of the limit."),
  scope: oneOf(["endpoint", "shared"]).describe("endpoint: a limit for each URL; shared: one for all."),
});

const WebLink = webLink(LINK);

const ChainEntry = map(
  "a map such as { id: 8453 }",
  {
    id: count(1)
      .meta({
        expected: "a whole number from 1 to 2^53 - 1",
      })
      .describe(
        "The chain ID, as eth_chainId returns it; for a chain without one, any free number such as 9000001.",
      ),
    name: optional(text("a name"), "Display name (default: that of a well-known id, else the slug)."),
    block_time: optional(
      Duration,
      "Time between two blocks (default: that of a well-known id, else measured).",
    ),
    testnet: optional(Flag, "Testnets never page (default: that of a well-known id, else false)."),
    explorer: webLink(`${LINK}, or null for none`)
      .nullable()
      .exactOptional()
      .describe("Block explorer with blocks at /block/NUMBER (default: the explorer of a well-known id)."),
    thresholds: Thresholds.prefault({}).describe("Thresholds of this chain that differ from the file's."),
    until: optional(Until, "When the chain ends: a date, from 00:00 UTC of that day, or its last block."),
    rpc: listOf(RpcEntry, "a list of URLs, or of maps with a url")
      .meta({ secret: true })
      .prefault([])
      .describe("Nodes that report the head independently of the indexers."),
  },
  ["name", "block_time", "testnet", "explorer", "thresholds", "until", "rpc"],
);

const Instant = z.iso
  .datetime({ offset: true })
  .meta({ expected: "a time with its zone, such as 2026-12-01T10:00:00Z" });
const MatchName = text("a name").exactOptional();

const WINDOW = 'a map with match, and either "from" and a later "to", or "schedule" and "for"';
const MaintenanceEntry = map(WINDOW, {
  match: map("a map with protocol, variant, tier or chain", {
    protocol: MatchName.describe("Only targets of this protocol."),
    variant: MatchName.describe("Only targets of this variant."),
    tier: MatchName.describe("Only targets of this tier."),
    chain: MatchName.describe("Only targets on this chain."),
  }).describe("Which targets; an absent key matches all."),
  from: optional(Instant, "Start of a single window; needs `to`."),
  to: optional(Instant, "End of a single window."),
  schedule: optional(CronSchedule, "Start of a recurring window; needs `for`."),
  for: optional(Duration, "Length of a recurring window."),
}).transform(({ match, from, to, schedule, for: durationMs }, context): MaintenanceWindow => {
  const [fromMs, toMs] = [Date.parse(from ?? ""), Date.parse(to ?? "")];
  if (fromMs < toMs && schedule === undefined && durationMs === undefined) {
    return { match, kind: "once", fromMs, toMs };
  }
  if (schedule !== undefined && durationMs !== undefined && from === undefined && to === undefined) {
    return { match, kind: "recurring", schedule, durationMs };
  }
  context.addIssue({ code: "custom", message: `found a map, expected ${WINDOW}` });
  return z.NEVER;
});

const Origin = pattern(
  /^(?:\*|https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?)$/,
  "an origin such as https://app.example, in lower case and without a path, or *",
);

const LinksEntry = map("a map with alertmanager, grafana or runbooks", {
  alertmanager: optional(WebLink, "Alertmanager, as browsers reach it."),
  grafana: optional(WebLink, "Grafana with Synclag's dashboards."),
  runbooks: optional(WebLink, "A copy of docs/runbooks (default: Synclag's own pages)."),
});

const NotifyOnly = map(
  "a map with protocols, tiers or severity",
  {
    protocols: optional(listOf(text("the name of a protocol"), "a list of protocols").min(1), "Only these."),
    tiers: optional(listOf(text("the name of a tier"), "a list of tiers").min(1), "Only these."),
    severity: oneOf(["warning", "critical"])
      .default("warning")
      .describe("critical: only incidents that leave users without a usable variant."),
  },
  ["tiers", "severity"],
);

const NotifyEntry = map(
  "a map with url",
  {
    url: Url.describe("Gets a POST for each message ([NOTIFY.md](NOTIFY.md))."),
    headers: Headers.default({}).describe("Sent with every request."),
    on: listOf(oneOf(["incident"]), "a list with incident")
      .default(["incident"])
      .describe("incident: a message when an incident begins, becomes worse or ends."),
    after: Delay.prefault("5m").describe(
      "How long one target must be in trouble, or data in doubt, before a message is sent; 0s: at once.",
    ),
    only: NotifyOnly.prefault({}).describe("Which incidents are posted."),
    format: oneOf(NOTIFY_FORMATS).default("json").describe("The format that the receiver reads."),
    link: optional(WebLink, "This Synclag's URL for readers: messages link to it (default: `listen`)."),
    chat_id: optional(
      text("the id of a chat, in quotes"),
      "The chat to which Telegram posts, such as '-1001234567890'.",
    ),
  },
  ["headers", "on", "after", "only", "link"],
).transform(({ on: _, after: afterMs, chat_id, link, only, ...others }) => ({
  ...others,
  afterMs,
  protocols: only.protocols ?? null,
  tiers: only.tiers ?? null,
  severity: only.severity,
  link: link ?? null,
  chatId: chat_id ?? null,
}));

const HeartbeatEntry = map("a map with url", {
  url: Url.describe("Requested with GET."),
  headers: Headers.default({}).describe("Sent with every request."),
  every: Interval.prefault("1m").describe("The time between two requests."),
}).transform(({ every: everyMs, ...address }) => ({ ...address, everyMs }));

const PublicEntry = map(
  "a map with protocols, title or notice",
  {
    protocols: listOf(text("the name of a protocol"), "a list of protocols")
      .min(1)
      .exactOptional()
      .describe("Only these protocols; by default all."),
    title: text("a text of 1 to 100 characters", 100).default("Status").describe("The title of the page."),
    notice: text("a text of 1 to 500 characters", 500)
      .exactOptional()
      .describe("An announcement at the top of the page, for example of planned work."),
  },
  ["title"],
);

/** The shape of chains.yaml. References between its parts are checked when they are resolved. */
export const ConfigFile = map("a map with version, chains and protocols", {
  version: z
    .literal(1)
    .meta({ expected: "1, the version of the format that this release reads" })
    .describe("Version of this file's format."),
  include: listOf(text("a path such as fleet/*.yaml"), "a list of paths such as fleet/*.yaml")
    .default([])
    .describe(
      "Further files with chains, protocols, budgets, maintenance and parity, relative to this file. A * works in the last part of a path; the lists of a protocol in several files become one.",
    ),
  listen: Listen.prefault("127.0.0.1:9855").describe("Address of the HTTP server; --listen overrides it."),
  poll: Poll.prefault({}).describe("How endpoints are polled."),
  thresholds: Thresholds.prefault({}).describe(
    "Limits beyond which a target is lagging, critical or stalled, and an observation is stale.",
  ),
  budgets: mapOf(BudgetEntry, "a map of budgets", Name)
    .default({})
    .describe("Request limits of the providers. A request that would exceed a limit is not sent."),
  chains: mapOf(ChainEntry, "a map of chains by slug", Name)
    .refine(isNotEmpty)
    .meta({ description: "Chains by slug.", minProperties: 1 }),
  protocols: mapOf(Indexers, "a map of protocols, each a list of indexers", Name).refine(isNotEmpty).meta({
    description: "Indexers by protocol. The gaps of a protocol are measured against its first indexer.",
    minProperties: 1,
  }),
  maintenance: listOf(MaintenanceEntry, "a list of windows")
    .default([])
    .describe("Windows in which targets are polled but raise no alert."),
  links: LinksEntry.prefault({}).describe("Where the links beside each problem lead."),
  public: PublicEntry.optional().describe(
    "A page at /public and badges at /badge/PROTOCOL/CHAIN.svg, for anyone.",
  ),
  cors: listOf(Origin, "a list of origins")
    .default([])
    .describe("Origins whose pages may read /api/v1/health and /public in a browser; * for any."),
  notify: NotifyEntry.optional().describe("A webhook for teams without Alertmanager."),
  heartbeat: HeartbeatEntry.optional().describe("A dead man's switch: requested while polls make progress."),
  parity: listOf(ParityEntry, "a list of at most 20 probes")
    .max(20)
    .default([])
    .describe(
      "Values that must be equal in several variants ([parity](parity.md)). They cost no extra requests.",
    ),
});

/** The sections that an included file may have. */
export const IncludedFile = ConfigFile.pick({
  chains: true,
  protocols: true,
  budgets: true,
  maintenance: true,
  parity: true,
}).meta({ expected: "a map with chains, protocols, budgets, maintenance or parity" });

export type ThresholdsEntry = z.output<typeof Thresholds>;
export type ChainValues = z.output<typeof ChainValues>;
export type IndexerEntry = z.output<typeof IndexerEntry>;

/** The JSON Schema of chains.yaml as the user writes it: durations and sizes are strings, keys with a default are optional. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(ConfigFile, {
    io: "input",
    override: ({ jsonSchema }) => {
      delete jsonSchema["expected"];
      delete jsonSchema["secret"];
      delete jsonSchema["apart"];
    },
  });
  return { ...schema, title: "chains.yaml of Synclag" };
}

function replyPath(regex: string) {
  return pattern(new RegExp(regex), "a path such as indexer.blocks.0.number");
}
