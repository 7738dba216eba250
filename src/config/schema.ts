import { z } from "zod";
import { IndexerEntry, RpcEntry } from "./indexer-schema.ts";
import { ByteSize, CronSchedule, Duration, durationBetween, Listen, Schedule } from "./quantities.ts";
import { count, Flag, Headers, isNotEmpty, Name, oneOf, text, Url } from "./schema-values.ts";

const Poll = z
  .strictObject({
    concurrency: count(1, 1_000).default(16).describe("Maximum concurrent requests."),
    per_host: count(1, 1_000).default(6).describe("Maximum concurrent requests to one host."),
    timeout: Duration.prefault("10s").describe("Deadline of a request: connect, headers and body together."),
    retries: count(0, 10).default(1).describe("Retries of a failed request; they draw on the same budget."),
    max_response: ByteSize.prefault("1MiB").describe(
      "Larger responses are failures. Of a metrics page only the lines that are read count.",
    ),
    rpc_schedule: Schedule.default("*/30 * * * * *").describe(
      "Schedule of `rpc` nodes without one of their own.",
    ),
  })
  .meta({ expected: "a map" });

const Thresholds = z
  .strictObject({
    lagging: Duration.exactOptional().describe("Lag from which a target is lagging (default 10m)."),
    critical: Duration.exactOptional().describe("Lag from which it is critical (default 30m)."),
    stalled: Duration.exactOptional().describe(
      "Time without an advance, at least 50 block times, until a target is stalled (default 10m).",
    ),
    stale: Duration.exactOptional().describe(
      "Age, at least 3 polls, from which an observation is ignored (default 5m).",
    ),
  })
  .meta({ expected: "a map with lagging, critical, stalled or stale" });

const BudgetEntry = z
  .strictObject({
    limit: count(1).describe("Requests allowed in each period."),
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
      .describe("Display name (default: that of a well-known id, else the slug)."),
    block_time: Duration.exactOptional().describe(
      "Time between two blocks (default: that of a well-known id, else measured).",
    ),
    testnet: Flag.exactOptional().describe(
      "Testnets never page (default: that of a well-known id, else false).",
    ),
    explorer: WebLink.nullable()
      .meta({ expected: "an http:// or https:// URL, or null for none" })
      .exactOptional()
      .describe("Block explorer with blocks at /block/NUMBER (default: that of a well-known id)."),
    thresholds: Thresholds.prefault({}).describe("Thresholds of this chain that differ from the file's."),
    rpc: z
      .array(RpcEntry)
      .meta({ expected: "a list of URLs, or of maps with a url", secret: true })
      .prefault([])
      .describe("Nodes: heads that are independent of the indexers."),
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
    alertmanager: WebLink.exactOptional().describe("Alertmanager, as browsers reach it."),
    grafana: WebLink.exactOptional().describe("Grafana with Synclag's dashboards."),
    runbooks: WebLink.exactOptional().describe(
      "A copy of docs/runbooks (default: the pages that Synclag serves).",
    ),
  })
  .meta({ expected: "a map with alertmanager, grafana or runbooks" });

const NotifyEntry = z
  .strictObject({
    url: Url.describe("Gets a POST with JSON ([NOTIFY.md](NOTIFY.md))."),
    headers: Headers.default({}).describe("Sent with every request."),
    on: z
      .array(oneOf(["incident"]))
      .meta({ expected: "a list with incident" })
      .default(["incident"])
      .describe("incident: when one begins, changes or ends."),
  })
  .meta({ expected: "a map with url" });

const HeartbeatEntry = z
  .strictObject({
    url: Url.describe("Gets a GET."),
    headers: Headers.default({}).describe("Sent with every request."),
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
      .describe("How often the value is asked for."),
    chains: z
      .array(text("the slug of a chain"))
      .min(1)
      .meta({ expected: "a list of chain slugs; leave it out for all chains that two of the variants serve" })
      .exactOptional()
      .describe("Where the variants are compared (default: wherever two serve the chain)."),
    queries: z
      .record(
        z.string(),
        z
          .strictObject({
            select: text("a GraphQL selection such as campaigns(first: 1) { subgraphId }", 2_000).describe(
              "A GraphQL selection, sent with the query for the height.",
            ),
            value: z
              .string()
              .regex(/^[A-Za-z_]\w*(?:\.\w+)*$/)
              .meta({ expected: "a path such as campaigns.0.subgraphId" })
              .describe("Path of the value: fields, and list positions from 0."),
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
        "Further files with chains, protocols, budgets, maintenance and parity, relative to this file. A * works in the last part of a path; the lists of a protocol in several files become one.",
      ),
    listen: Listen.prefault("127.0.0.1:9855").describe("Address of the HTTP server; --listen overrides it."),
    poll: Poll.prefault({}).describe("How endpoints are polled."),
    thresholds: Thresholds.prefault({}).describe("When a lag or a standstill counts."),
    budgets: z
      .record(Name, BudgetEntry)
      .meta({ expected: "a map of budgets" })
      .default({})
      .describe("Request limits of the providers. A request that would exceed one is not sent."),
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
      .describe("Windows in which targets are polled but raise no alert."),
    links: LinksEntry.prefault({}).describe("Where the links beside each problem lead."),
    public: PublicEntry.optional().describe(
      "A page at /public and badges at /badge/PROTOCOL/CHAIN.svg, without password, hosts or reasons.",
    ),
    cors: z
      .array(Origin)
      .meta({ expected: "a list of origins" })
      .default([])
      .describe("Origins whose pages may read /api/v1/health and /public in a browser; * for any."),
    notify: NotifyEntry.optional().describe("A webhook for teams without Alertmanager."),
    heartbeat: HeartbeatEntry.optional().describe(
      "A dead man's switch: requested while polls make progress.",
    ),
    parity: z
      .array(ParityEntry)
      .max(20)
      .meta({ expected: "a list of at most 20 probes" })
      .default([])
      .describe(
        "Values that must be equal in several variants ([parity](parity.md)); they cost no extra requests.",
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
