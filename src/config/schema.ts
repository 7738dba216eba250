import { z } from "zod";
import { IndexerEntry, RpcEntry } from "./indexer-schema.ts";
import { ByteSize, CronSchedule, Duration, durationBetween, Listen, Schedule } from "./quantities.ts";
import { count, FILLED, Flag, Headers, isNotEmpty, Name, oneOf, text, Url } from "./schema-values.ts";

const Poll = z
  .strictObject({
    concurrency: count(1, 1_000).default(16).describe("Maximum concurrent requests of the whole process."),
    per_host: count(1, 1_000).default(6).describe("Maximum concurrent requests to one host."),
    timeout: Duration.prefault("10s").describe("Deadline of a request: connect, headers and body together."),
    retries: count(0, 10).default(1).describe("Retries of a failed request; they draw on the same budget."),
    max_response: ByteSize.prefault("1MiB").describe(
      "Maximum size of a response; a larger one is cut off and counts as a failure. Of a metrics page, the lines that are read.",
    ),
    rpc_schedule: Schedule.default("*/30 * * * * *").describe(
      "When the chains' `rpc` nodes are polled that have no schedule of their own.",
    ),
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

const WebLink = z
  .string()
  .regex(/^https?:\/\/[^\s/]+[^\s'"]*$/i)
  .transform((url) => url.replace(/\/+$/, ""))
  .meta({ expected: "an http:// or https:// URL" });

const ChainEntry = z
  .strictObject({
    id: count(1).describe("The chain ID, as eth_chainId returns it."),
    name: text("a name")
      .exactOptional()
      .describe("Display name (default: of a well-known id, that of the chain, else the slug)."),
    block_time: Duration.exactOptional().describe(
      "Expected time between two blocks (default: that of a well-known id, else only the measured one is used).",
    ),
    testnet: Flag.exactOptional().describe(
      "Alerts for testnets page nobody (default: as is known of the id, else false).",
    ),
    explorer: WebLink.nullable()
      .meta({ expected: "an http:// or https:// URL, or null for none" })
      .exactOptional()
      .describe(
        "A block explorer, which has the reference head at /block/NUMBER, or null for none (default: that of a well-known id).",
      ),
    thresholds: Thresholds.prefault({}).describe("Thresholds of this chain that differ from the file's."),
    rpc: z
      .array(RpcEntry)
      .meta({ expected: "a list of URLs, or of maps with a url", secret: true })
      .default([])
      .describe(`JSON-RPC nodes: heads that are independent of the indexers. ${FILLED}`),
  })
  .meta({ expected: "a map such as { id: 8453 }" });

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
    include: z
      .array(text("a path such as fleet/*.yaml"))
      .meta({ expected: "a list of paths such as fleet/*.yaml" })
      .default([])
      .describe(
        "Further files with chains, protocols, budgets, maintenance and parity, relative to this file; * in the last part of a path stands for any text. The lists of a protocol in several files become one.",
      ),
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
export type MaintenanceEntry = z.output<typeof MaintenanceEntry>;
export type PublicEntry = z.output<typeof PublicEntry>;
export type ParityEntry = z.output<typeof ParityEntry>;

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
