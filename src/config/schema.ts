import { z } from "zod";
import { DIALECTS } from "../dialects/families.ts";
import { ByteSize, CronSchedule, Duration, durationBetween, Listen, Schedule } from "./quantities.ts";

/** The values of `dialect`. */
const DIALECT_NAMES = Object.keys(DIALECTS);
const FILLED = `\${VAR} and \${file:/path} are replaced.`;

/** A name that becomes a metric label and a part of a URL. */
const Name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*$/)
  .meta({ expected: "a name of lower-case letters, digits and dashes, starting with a letter or digit" });
const Flag = z.boolean().meta({ expected: "true or false" });
const Url = text("an http:// or https:// URL").meta({ secret: true });
const Link = z.string().nullable().meta({ expected: "a URL, or null for none" });
const Headers = z
  .record(z.string(), text("a string; put numbers in quotes").meta({ secret: true }))
  .meta({ expected: "a map of header names and values", secret: true });
const BudgetName = z.string().nullable().meta({ expected: "the name of a budget, or null for none" });
const Provider = text("a name").describe(
  "What has faults in common with others of the same provider (default: the host of the URL). Sources of one provider count as one where the head is decided.",
);

const Poll = z
  .strictObject({
    concurrency: count(1, 1_000).default(16).describe("Maximum concurrent requests of the whole process."),
    per_host: count(1, 1_000).default(6).describe("Maximum concurrent requests to one host."),
    timeout: Duration.prefault("10s").describe("Deadline of a request: connect, headers and body together."),
    retries: count(0, 10).default(1).describe("Retries of a failed request; they draw on the same budget."),
    max_response: ByteSize.prefault("1MiB").describe(
      "Maximum size of a response; a larger one is cut off and counts as a failure.",
    ),
    rpc_schedule: Schedule.default("*/30 * * * * *").describe("When the chains' `rpc` nodes are polled."),
  })
  .meta({ expected: "a map" });

const Thresholds = z
  .strictObject({
    lagging: Duration.exactOptional().describe(
      "A target further behind the reference than this is lagging (default 10m).",
    ),
    critical: Duration.exactOptional().describe(
      "A target further behind than this is critical (default 30m).",
    ),
    stalled: Duration.exactOptional().describe(
      "A target that has not advanced for this long, or for 50 block times if that is longer, is stalled (default 10m).",
    ),
    stale: Duration.exactOptional().describe(
      "An observation older than this, or than 3 polls if that is longer, is ignored (default 5m).",
    ),
  })
  .meta({ expected: "a map with lagging, critical, stalled or stale" });

const BudgetEntry = z
  .strictObject({
    limit: count(1).describe("Requests that the provider allows in each period."),
    per: oneOf(["hour", "day", "month"]).describe("The period of the limit."),
    scope: oneOf(["endpoint", "shared"]).describe(
      "endpoint: each URL has its own limit; shared: all endpoints share one.",
    ),
  })
  .meta({ expected: "a map such as { limit: 3000, per: day, scope: endpoint }" });

const RpcEntry = z
  .union([
    Url,
    z.strictObject({ url: Url.describe(`The node's URL. ${FILLED}`), provider: Provider.exactOptional() }),
  ])
  .meta({ expected: "a URL, or a map with url and provider", secret: true });

const ChainEntry = z
  .strictObject({
    id: count(1).describe("The chain ID, as eth_chainId returns it."),
    name: text("a name").exactOptional().describe("Display name (default: the slug)."),
    block_time: Duration.exactOptional().describe(
      "Expected time between two blocks. If absent, only the measured one is used.",
    ),
    testnet: Flag.default(false).describe("Alerts for testnets page nobody."),
    thresholds: Thresholds.prefault({}).describe("Thresholds of this chain that differ from the file's."),
    rpc: z
      .array(RpcEntry)
      .meta({ expected: "a list of URLs", secret: true })
      .default([])
      .describe(`JSON-RPC nodes: heads that are independent of the indexers. ${FILLED}`),
  })
  .meta({ expected: "a map such as { id: 8453, name: Base, block_time: 2s }" });

/** What a chain can override; the other keys of its map are values of placeholders. */
const OVERRIDES = {
  url: Url.exactOptional().describe(
    "A URL of its own. The indexer's headers and budget do not apply to another origin.",
  ),
  explorer: Link.exactOptional().describe("A link of its own, or null for none."),
  playground: Link.exactOptional().describe("A link of its own, or null for none."),
  schedule: Schedule.exactOptional().describe("A schedule of its own."),
  headers: Headers.exactOptional().describe("Replaces the indexer's headers."),
  budget: BudgetName.exactOptional().describe("A budget of its own, or null for none."),
  provider: Provider.exactOptional(),
};

/** The keys of a chain's map that are not values of placeholders. */
export const OVERRIDE_KEYS: readonly string[] = Object.keys(OVERRIDES);

const ChainValues = z
  .object(OVERRIDES)
  .catchall(
    z
      .union([z.string(), z.number(), z.boolean(), z.null()])
      .meta({ expected: "a string or a number as a placeholder's value" })
      .describe("The value of the placeholder with this name."),
  )
  .nullable()
  .transform((values) => values ?? {})
  .meta({ expected: "a map of placeholder values and overrides" });

const Chains = z
  .union([
    z.array(text("the slug of a chain")).min(1),
    z.record(z.string(), ChainValues).refine(isNotEmpty).meta({ minProperties: 1 }),
  ])
  .meta({ expected: "a list of chain slugs, or a map of them" });

const FIELDS = String.raw`(?:\$|\$key|[\w-]+(?:\.[\w-]+)*)`;
const ReplyPath = replyPath(String.raw`^${FIELDS}(?:\|${FIELDS})*\??$`);
const Query = text("a GraphQL query");

const Custom = z
  .strictObject({
    method: oneOf(["POST", "GET"])
      .default("POST")
      .describe("GET sends no body, and reads the whole response."),
    query: z
      .union([Query, z.array(Query).min(1)])
      .meta({ expected: "a GraphQL query" })
      .exactOptional()
      .describe("A GraphQL query, or a list of them: the next one is sent when one is refused."),
    body: z
      .record(z.string(), z.unknown())
      .meta({ expected: "a map that is sent as JSON" })
      .exactOptional()
      .describe("The JSON that is sent in place of a query."),
    root: ReplyPath.exactOptional().describe(
      "Where the other paths start; $ is the whole response. Default: data, or result.",
    ),
    rows: replyPath(String.raw`^(?:${FIELDS}(?:\.\*)?|\*)$`)
      .exactOptional()
      .describe(
        "The list with one row for each chain, or with .* at its end the map of them. Without it, the response is one row.",
      ),
    height: ReplyPath.describe("The last processed block, in `data` or in a row of `rows`."),
    time: ReplyPath.exactOptional().describe("The time of that block: seconds, or ISO 8601."),
    chain_id: ReplyPath.exactOptional().describe("The chain ID of the row."),
    hash: ReplyPath.exactOptional().describe("The hash of that block."),
    deployment: ReplyPath.exactOptional().describe("The ID of the deployment that answers."),
    failed: ReplyPath.exactOptional().describe(
      "A value that is true or not empty after indexing has failed.",
    ),
    not_started: z
      .array(z.union([z.string(), z.number(), z.null()]).meta({ expected: "a text, a number or null" }))
      .meta({ expected: "a list of values" })
      .exactOptional()
      .describe("Heights that mean that nothing is indexed yet, such as -1 or null; 0 always does."),
  })
  .superRefine(({ method, query, body }, context) => {
    const refuse = (key: string, message: string): void =>
      context.addIssue({ code: "custom", path: [key], message, params: { own: true } });
    if (method === "GET" && (query ?? body) !== undefined) {
      refuse("method", `GET sends no ${query === undefined ? "body" : "query"}`);
    } else if (query !== undefined && body !== undefined) {
      refuse("body", "found a body beside a query, expected one of them");
    } else if (method === "POST" && (query ?? body) === undefined) {
      refuse("query", "required key missing (expected a GraphQL query)");
    }
  })
  .meta({ expected: "a map with query and height" });

const Status = z
  .strictObject({
    url: Url.describe(`The index-node API, such as http://graph-node:8030/graphql. Placeholders, ${FILLED}`),
    deployment: text("the id of a deployment, or a placeholder such as {deployment}").describe(
      "The deployment's id, or a placeholder such as {deployment}.",
    ),
  })
  .meta({ expected: "a map with url and deployment" });

const IndexerEntry = z
  .strictObject({
    variant: Name.describe("One way in which the protocol is indexed, such as multichain or subgraph."),
    tier: Name.default("production").describe("Which URL of the variant, such as production or testing."),
    dialect: z
      .enum(DIALECT_NAMES)
      .meta({ expected: `one of ${DIALECT_NAMES.join(", ")}` })
      .default("auto")
      .describe("The kind of indexer; auto detects it with the first poll."),
    custom: Custom.exactOptional().describe(
      "What dialect custom sends, and the paths of the values in the response.",
    ),
    url: Url.exactOptional().describe(
      `{chain}, {chain_id} and the chains' own values give each chain its own endpoint. ${FILLED}`,
    ),
    provider: Provider.exactOptional(),
    status: Status.exactOptional().describe(
      "The index-node API of the same graph-node: asked why a target of dialect graph is not ok.",
    ),
    headers: Headers.default({}).describe(`Sent with every request. ${FILLED}`),
    optional: Flag.default(false).describe(
      "Skip the indexer, with a warning, while one of its variables is not set.",
    ),
    explorer: Link.exactOptional().describe("Link to a page about the indexer."),
    playground: Link.exactOptional().describe("Link to a page for queries by hand."),
    budget: BudgetName.exactOptional().describe("The budget that its requests draw on."),
    schedule: Schedule.default("auto").describe(
      "When it is polled: a cron expression, or auto for the fastest schedule that fits the budget.",
    ),
    chains: Chains.describe(
      "The chains that it is expected to serve. One that is absent from its response is reported as missing.",
    ),
  })
  .meta({ expected: "a map with variant, url and chains" });

const Instant = z.iso
  .datetime({ offset: true })
  .meta({ expected: "a time with its zone, such as 2026-12-01T10:00:00Z" });
const MatchName = text("a name").exactOptional();

const MaintenanceEntry = z
  .strictObject({
    match: z
      .strictObject({
        protocol: MatchName.describe("Only targets of this protocol."),
        variant: MatchName.describe("Only targets of this variant."),
        tier: MatchName.describe("Only targets of this tier."),
        chain: MatchName.describe("Only targets on this chain."),
      })
      .meta({ expected: "a map with protocol, variant, tier or chain" })
      .describe("Which targets; an absent key matches all."),
    from: Instant.exactOptional().describe("Start of a single window; needs `to`."),
    to: Instant.exactOptional().describe("End of a single window."),
    schedule: CronSchedule.exactOptional().describe("Start of a recurring window; needs `for`."),
    for: Duration.exactOptional().describe("Length of a recurring window."),
  })
  .meta({ expected: "a map with match, and either from and to or schedule and for" });

const WebLink = z
  .string()
  .regex(/^https?:\/\/[^\s/]+[^\s'"]*$/i)
  .transform((url) => url.replace(/\/+$/, ""))
  .meta({ expected: "an http:// or https:// URL" });

const Origin = z
  .string()
  .regex(/^(?:\*|https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?)$/)
  .meta({ expected: "an origin such as https://app.example, in lower case and without a path, or *" });

const LinksEntry = z
  .strictObject({
    alertmanager: WebLink.exactOptional().describe("Alertmanager, as browsers reach it: for new silences."),
    grafana: WebLink.exactOptional().describe("The Grafana that has the dashboards of Synclag."),
    runbooks: WebLink.exactOptional().describe(
      "A folder with copies of docs/runbooks; by default the pages that Synclag serves.",
    ),
  })
  .meta({ expected: "a map with alertmanager, grafana or runbooks" });

const NotifyEntry = z
  .strictObject({
    url: Url.describe(`Gets a POST with JSON ([NOTIFY.md](NOTIFY.md)). ${FILLED}`),
    headers: Headers.default({}).describe(`Sent with every request. ${FILLED}`),
    on: z
      .array(oneOf(["incident"]))
      .meta({ expected: "a list with incident" })
      .default(["incident"])
      .describe("What is told: an incident that begins, changes or ends."),
  })
  .meta({ expected: "a map with url" });

const HeartbeatEntry = z
  .strictObject({
    url: Url.describe(`Gets a GET. ${FILLED}`),
    headers: Headers.default({}).describe(`Sent with every request. ${FILLED}`),
    every: durationBetween(10_000, 86_400_000).prefault("1m").describe("The time between two requests."),
  })
  .meta({ expected: "a map with url" });

const PublicEntry = z
  .strictObject({
    protocols: z
      .array(z.string())
      .min(1)
      .meta({ expected: "a list of protocols" })
      .exactOptional()
      .describe("Only these protocols; by default all."),
    title: z
      .string()
      .min(1)
      .max(100)
      .meta({ expected: "a text of 1 to 100 characters" })
      .default("Status")
      .describe("The title of the page."),
  })
  .meta({ expected: "a map with protocols or title" });

const SHORTEST_EVERY_MS = 10_000;
/** A selection that a server refuses is sent again within a day. */
const LONGEST_EVERY_MS = 86_400_000;

const ParityEntry = z
  .strictObject({
    name: Name.max(40)
      .meta({ expected: "a name of at most 40 lower-case letters, digits and dashes" })
      .describe("Name of the probe, a metric label."),
    protocol: text("the name of a protocol").describe("The protocol whose variants are compared."),
    every: durationBetween(SHORTEST_EVERY_MS, LONGEST_EVERY_MS)
      .prefault("10m")
      .describe("The first poll that falls due after this time carries the selection."),
    chains: z
      .array(text("the slug of a chain"))
      .min(1)
      .meta({ expected: "a list of chain slugs; leave it out for all chains that two of the variants serve" })
      .exactOptional()
      .describe("The chains on which the variants are compared (default: all that two of them serve)."),
    queries: z
      .record(
        z.string(),
        z
          .strictObject({
            select: text("a GraphQL selection such as campaigns(first: 1) { subgraphId }", 2_000).describe(
              "One GraphQL selection, asked in the same request as the height. {chain}, {chain_id} and the chains' own values are replaced.",
            ),
            value: z
              .string()
              .regex(/^[A-Za-z_]\w*(?:\.\w+)*$/)
              .meta({ expected: "a path such as campaigns.0.subgraphId" })
              .describe("Where the value is in the reply: names of fields, and positions in lists from 0."),
          })
          .meta({ expected: "a map with select and value" }),
      )
      .meta({
        expected: "a map of variants, each with select and value",
        description: "What each variant is asked; at least two variants.",
        minProperties: 2,
      }),
  })
  .meta({ expected: "a map with name, protocol and queries" });

/** The shape of chains.yaml. References between its parts are checked when they are resolved. */
export const ConfigFile = z
  .strictObject({
    version: z
      .literal(1)
      .meta({ expected: "1, the version of the format that this release reads" })
      .describe("Version of this file's format."),
    listen: Listen.prefault("127.0.0.1:9855").describe("Address of the HTTP server; --listen overrides it."),
    poll: Poll.prefault({}).describe("How endpoints are polled."),
    thresholds: Thresholds.prefault({}).describe(
      "Durations rather than numbers of blocks, so that they suit fast and slow chains.",
    ),
    budgets: z
      .record(Name, BudgetEntry)
      .meta({ expected: "a map of budgets" })
      .default({})
      .describe("Request limits of the providers, by name. A request that would exceed one is not sent."),
    chains: z
      .record(Name, ChainEntry)
      .refine(isNotEmpty)
      .meta({ expected: "a map of chains by slug", description: "Chains by slug.", minProperties: 1 }),
    protocols: z
      .record(Name, z.array(IndexerEntry).min(1).meta({ expected: "a list of indexers" }))
      .refine(isNotEmpty)
      .meta({
        expected: "a map of protocols, each a list of indexers",
        description: "Indexers by protocol. The others of a protocol are compared with its first one.",
        minProperties: 1,
      }),
    maintenance: z
      .array(MaintenanceEntry)
      .meta({ expected: "a list of windows" })
      .default([])
      .describe("Windows in which targets are polled as usual but marked, so that alerts can ignore them."),
    links: LinksEntry.prefault({}).describe("Where the links beside each problem lead."),
    public: PublicEntry.optional().describe(
      "A page at /public and badges at /badge/PROTOCOL/CHAIN.svg that anybody may see, without a password, hosts or reasons.",
    ),
    cors: z
      .array(Origin)
      .meta({ expected: "a list of origins" })
      .default([])
      .describe(
        "Origins whose pages may read /api/v1/health and /public in a browser, such as https://app.example; * for any.",
      ),
    notify: NotifyEntry.optional().describe("A webhook for teams without Alertmanager."),
    heartbeat: HeartbeatEntry.optional().describe(
      "A dead man's switch: asked while polls make progress, so that somebody else notices when Synclag is down.",
    ),
    parity: z
      .array(ParityEntry)
      .max(20)
      .meta({ expected: "a list of at most 20 probes" })
      .default([])
      .describe(
        "Values that must be equal in several variants. They are asked in the requests for the heights and cost none of their own.",
      ),
  })
  .meta({ expected: "a map with version, chains and protocols" });

export type ThresholdsEntry = z.output<typeof Thresholds>;
export type ChainEntry = z.output<typeof ChainEntry>;
export type ChainValues = z.output<typeof ChainValues>;
export type CustomEntry = z.output<typeof Custom>;
export type IndexerEntry = z.output<typeof IndexerEntry>;
export type MaintenanceEntry = z.output<typeof MaintenanceEntry>;
export type PublicEntry = z.output<typeof PublicEntry>;
export type ParityEntry = z.output<typeof ParityEntry>;

function text(expected: string, max = Number.POSITIVE_INFINITY) {
  const string = z.string().min(1);
  return (max === Number.POSITIVE_INFINITY ? string : string.max(max)).meta({ expected });
}

function count(least: number, most = Number.MAX_SAFE_INTEGER) {
  const expected = `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`}`;
  return z.int().min(least).max(most).meta({ expected });
}

function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names).meta({ expected: names.join(", ").replace(/, (?=[^,]*$)/, " or ") });
}

function replyPath(pattern: string) {
  return z.string().regex(new RegExp(pattern)).meta({ expected: "a path such as indexer.blocks.0.number" });
}

function isNotEmpty(map: object): boolean {
  return Object.keys(map).length > 0;
}

/** The JSON Schema of chains.yaml as the user writes it: durations and sizes are strings, keys with a default are optional. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(ConfigFile, {
    io: "input",
    override: ({ jsonSchema }) => {
      delete jsonSchema["expected"];
      delete jsonSchema["secret"];
    },
  });
  return { ...schema, title: "chains.yaml of Synclag" };
}
