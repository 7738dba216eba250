import { z } from "zod";
import { Schedule } from "./cron.ts";
import { IndexerEntry } from "./indexer.ts";
import { Listen } from "./listen-address.ts";
import { MaintenanceEntry } from "./maintenance.ts";
import { cannotUse, expects, expectsSecret } from "./messages.ts";
import { Parity } from "./parity.ts";
import { ByteSize, Duration } from "./quantities.ts";
import { Name, section } from "./section.ts";

const VERSION = 1;

const Poll = section(
  {
    concurrency: count({ least: 1, most: 1_000 })
      .default(16)
      .describe("Maximum concurrent requests of the whole process."),
    per_host: count({ least: 1, most: 1_000 })
      .default(6)
      .describe("Maximum concurrent requests to one host."),
    timeout: Duration.prefault("10s").describe("Deadline of a request: connect, headers and body together."),
    retries: count({ least: 0, most: 10 })
      .default(1)
      .describe("Retries of a failed request; they draw on the same budget."),
    max_response: ByteSize.prefault("1MiB").describe(
      "Maximum size of a response; a larger one is cut off and counts as a failure.",
    ),
    rpc_schedule: Schedule.default("*/30 * * * * *").describe("When the chains' `rpc` nodes are polled."),
  },
  "a map",
);

const Thresholds = section(
  {
    lagging: Duration.optional().describe(
      "A target further behind the reference than this is lagging (default 10m).",
    ),
    critical: Duration.optional().describe("A target further behind than this is critical (default 30m)."),
    stalled: Duration.optional().describe(
      "A target that has not advanced for this long, or for 50 block times if that is longer, is stalled (default 10m).",
    ),
    stale: Duration.optional().describe(
      "An observation older than this, or than 3 polls if that is longer, is ignored (default 5m).",
    ),
  },
  "a map with lagging, critical, stalled or stale",
);

const BudgetEntry = section(
  {
    limit: count({ least: 1, most: Number.MAX_SAFE_INTEGER }).describe(
      "Requests that the provider allows in each period.",
    ),
    per: z.enum(["hour", "day", "month"], expects("hour, day or month")),
    scope: z
      .enum(["endpoint", "shared"], expects("endpoint or shared"))
      .describe("endpoint: each URL has its own limit; shared: all endpoints share one."),
  },
  "a map such as { limit: 3000, per: day, scope: endpoint }",
);

const ChainEntry = section(
  {
    id: count({ least: 1, most: Number.MAX_SAFE_INTEGER }).describe(
      "The chain ID, as eth_chainId returns it.",
    ),
    name: z
      .string(expects("a name"))
      .min(1, expects("a name"))
      .optional()
      .describe("Display name (default: the slug)."),
    block_time: Duration.optional().describe(
      "Expected time between two blocks. If absent, only the measured one is used.",
    ),
    testnet: z.boolean(expects("true or false")).default(false).describe("Alerts for testnets page nobody."),
    thresholds: Thresholds.prefault({}).describe("Thresholds of this chain that differ from the file's."),
    rpc: z
      .array(z.string(expectsSecret("a URL")), expectsSecret("a list of URLs"))
      .default([])
      .describe(
        `JSON-RPC nodes: heads that are independent of the indexers. \${VAR} and \${file:/path} are replaced.`,
      ),
  },
  "a map such as { id: 8453, name: Base, block_time: 2s }",
);

/** The shape of chains.yaml. References between its parts are checked when they are resolved. */
export const ConfigFile = section(
  {
    version: z
      .literal(VERSION, {
        error: ({ input }) =>
          cannotUse(input, `${VERSION}, the version of the format that this release reads`),
      })
      .describe("Version of this file's format."),
    listen: Listen.prefault("127.0.0.1:9855").describe("Address of the HTTP server; --listen overrides it."),
    poll: Poll.prefault({}).describe("How endpoints are polled."),
    thresholds: Thresholds.prefault({}).describe(
      "Durations rather than numbers of blocks, so that they suit fast and slow chains.",
    ),
    budgets: z
      .record(Name, BudgetEntry, expects("a map of budgets"))
      .default({})
      .describe("Request limits of the providers, by name. A request that would exceed one is not sent."),
    chains: z
      .record(Name, ChainEntry, expects("a map of chains by slug"))
      .meta({ description: "Chains by slug.", minProperties: 1 }),
    protocols: z
      .record(
        Name,
        z.array(IndexerEntry, expects("a list of indexers")).meta({ minItems: 1 }),
        expects("a map of protocols, each a list of indexers"),
      )
      .meta({
        description: "Indexers by protocol. The others of a protocol are compared with its first one.",
        minProperties: 1,
      }),
    maintenance: z
      .array(MaintenanceEntry, expects("a list of windows"))
      .default([])
      .describe("Windows in which targets are polled as usual but marked, so that alerts can ignore them."),
    parity: Parity.default([]).describe(
      "Values that must be equal in several variants. They are asked in the requests for the heights and cost none of their own.",
    ),
  },
  "a map with version, chains and protocols",
);

/** A chains.yaml of the right shape. */
export type ConfigFile = z.output<typeof ConfigFile>;
export type ThresholdsEntry = z.output<typeof Thresholds>;

function count({ least, most }: { readonly least: number; readonly most: number }) {
  const wanted = expects(
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${least}`
      : `a whole number from ${least} to ${most}`,
  );
  return z.int(wanted).min(least, wanted).max(most, wanted);
}

/** The JSON Schema of chains.yaml as the user writes it: durations and sizes are strings, keys with a default are optional. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return { ...z.toJSONSchema(ConfigFile, { io: "input" }), title: "chains.yaml of Synclag" };
}
