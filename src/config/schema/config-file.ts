import { z } from "zod";
import { ByteSize } from "./byte-size.ts";
import { Schedule } from "./cron.ts";
import { Duration } from "./duration.ts";
import { IndexerEntry } from "./indexer.ts";
import { Listen } from "./listen-address.ts";
import { MaintenanceEntry } from "./maintenance.ts";
import { expects, unusable } from "./messages.ts";
import { Name } from "./name.ts";
import { section } from "./section.ts";

const VERSION = 1;

const Poll = section(
  {
    concurrency: count({ least: 1, most: 1_000 }).default(16).describe("Requests in flight, whole process."),
    per_host: count({ least: 1, most: 1_000 }).default(6).describe("Requests in flight to one host."),
    timeout: Duration.prefault("10s").describe("One deadline over connect, headers and body."),
    retries: count({ least: 0, most: 10 }).default(1).describe("Drawn from the same budget as every poll."),
    max_response: ByteSize.prefault("1MiB").describe("A larger answer is cut off and counts as a failure."),
    rpc_schedule: Schedule.default("*/30 * * * * *").describe("When the chains' `rpc` heads are asked."),
  },
  "a map",
);

const Thresholds = section(
  {
    lagging: Duration.optional().describe(
      "Further behind the reference than this is a warning (default 10m).",
    ),
    critical: Duration.optional().describe("Further behind than this is critical (default 30m)."),
    stalled: Duration.optional().describe(
      "No advance for this long, or for 50 block times, whichever is longer (default 10m).",
    ),
    stale: Duration.optional().describe(
      "Older than this, or than 3 polls, is no longer evidence (default 5m).",
    ),
  },
  "a map with lagging, critical, stalled or stale",
);

const BudgetEntry = section(
  {
    limit: count({ least: 1, most: Number.MAX_SAFE_INTEGER }).describe("Requests that the provider allows."),
    per: z.enum(["hour", "day", "month"], expects("hour, day or month")),
    scope: z
      .enum(["endpoint", "shared"], expects("endpoint or shared"))
      .describe("endpoint: each URL has its own; shared: all endpoints draw from one."),
  },
  "a map such as { limit: 3000, per: day, scope: endpoint }",
);

const ChainEntry = section(
  {
    id: count({ least: 1, most: Number.MAX_SAFE_INTEGER }).describe(
      "The chain's number, as eth_chainId gives it.",
    ),
    name: z
      .string(expects("a text"))
      .min(1, expects("a text"))
      .optional()
      .describe("For people; default: the slug."),
    block_time: Duration.optional().describe(
      "Time between two blocks. Without it only the measured one is known.",
    ),
    testnet: z.boolean(expects("true or false")).default(false),
    thresholds: Thresholds.prefault({}).describe("Where this chain differs from the file's thresholds."),
    rpc: z
      .array(z.string(expects("a URL")), expects("a list of URLs"))
      .default([])
      .describe("JSON-RPC nodes: heads that no indexer has a hand in."),
  },
  "a map such as { id: 8453, name: Base, block_time: 2s }",
);

/** The shape of chains.yaml; what one part means to another is judged later. */
export const ConfigFile = section(
  {
    version: z
      .literal(VERSION, {
        error: ({ input }) => unusable(input, `${VERSION}, the version that this synclag reads`),
      })
      .describe("Version of this file's format."),
    listen: Listen.prefault("127.0.0.1:9855").describe("Where metrics and page are served; --listen wins."),
    poll: Poll.prefault({}).describe("How indexers are asked."),
    thresholds: Thresholds.prefault({}).describe(
      "In time, so that a 0.25 s chain and a 12 s chain read alike.",
    ),
    budgets: z
      .record(Name, BudgetEntry, expects("a map of budgets"))
      .default({})
      .describe("What the providers allow: a promise that every request keeps."),
    chains: z
      .record(Name, ChainEntry, expects("a map of chains, by slug"))
      .meta({ description: "Every chain, by slug.", minProperties: 1 }),
    protocols: z
      .record(
        Name,
        z.array(IndexerEntry, expects("a list of indexers")).meta({ minItems: 1 }),
        expects("a map of protocols, each a list of indexers"),
      )
      .meta({
        description:
          "What is indexed, and by whom. A protocol's first indexer is what the others are compared with.",
        minProperties: 1,
      }),
    maintenance: z
      .array(MaintenanceEntry, expects("a list of windows"))
      .default([])
      .describe("Polled as ever, but marked."),
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
