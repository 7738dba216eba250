import { z } from "zod";
import { EVENT_KINDS } from "../../core/events/event.ts";
import type { Interval } from "../../core/events/unwatched.ts";
import { STATUSES } from "../../core/model/statuses.ts";
import { isoTime } from "../../core/model/text.ts";
import { didYouMean } from "../../core/text/near-miss.ts";

/** Query parameters of a request; a repeated parameter is a list. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Unix milliseconds of a text: an ISO 8601 time, in UTC unless it has a zone, or a duration before `now` such as `24h`. NaN for
 * any other text.
 */
function timeOf(text: string, now: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) {
    return Date.parse(now) - Number(count) * (UNITS_MS[unit ?? ""] ?? 0);
  }
  const zone = /[T ][\d:.]+$/.test(text) ? "Z" : "";
  return /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(`${text}${zone}`) : Number.NaN;
}

const Text = z.string();

function oneOf<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, `expected ${words.join(", ").replace(/, (?=[^,]*$)/, " or ")}`);
}

const Moment = Text.refine((text) => !Number.isNaN(timeOf(text, isoTime(0))), {
  error: "expected a time such as 2026-11-23T03:00:00Z, or a duration before now such as 24h or 7d",
});
const TIME = "An ISO 8601 time, in UTC unless it has a zone, or a duration before now such as 24h or 7d";

function count(most: number, usual: number) {
  return z.coerce.number(`expected a whole number from 1 to ${most}`).int().min(1).max(most).default(usual);
}

function span(from: string, limit: number) {
  return {
    from: Moment.default(from).describe(TIME),
    to: Moment.default("0s").describe(TIME),
    limit: count(10_000, limit).describe("The maximum number of items in each list; the latest are kept"),
  };
}

function ofTargets(name: string) {
  return Text.optional().describe(`Only events of targets of this ${name}`);
}

const FILTERS = {
  kind: oneOf(EVENT_KINDS).optional().describe("Only events of this kind"),
  protocol: ofTargets("protocol"),
  chain: ofTargets("chain"),
  variant: ofTargets("variant"),
  tier: ofTargets("tier"),
  host: ofTargets("host"),
  status: oneOf([...STATUSES, "degraded", "down"])
    .optional()
    .describe("Only changes from or to this status"),
};

/** The parameters that filter events. */
export const EVENT_FILTERS = Object.keys(FILTERS);

/** A schema of these parameters that refuses others: a mistyped name must not select everything. */
function parameters<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: ({ input }) => {
      const unknown = Object.keys(input as Query).find((name) => !known.includes(name)) ?? "";
      const advice = didYouMean(unknown, known) || `; expected ${known.join(", ") || "none"}`;
      return `Unknown parameter '${unknown.slice(0, 100)}'${advice}`;
    },
  });
}

/** The query parameters of the routes. A schema both reads them and describes them in OpenAPI. */
export const QUERIES = {
  none: parameters({}),
  health: parameters({
    variant: Text.optional().describe("Considers only this variant; by default any of them"),
    tier: Text.optional().describe(
      "Considers only this tier. Default: production; a protocol without a production tier on the chain defaults to all its tiers",
    ),
    max_lag: z.coerce
      .number("expected a number of seconds from 0")
      .min(0)
      .optional()
      .describe(
        "The maximum lag of a variant in seconds; with an unknown lag, the maximum time since its last advance. Default: the lagging threshold of the target",
      ),
    dispute: oneOf(["ignore"])
      .optional()
      .describe("ignore: a variant may be healthy while sources of the chain contradict each other"),
    parity: oneOf(["equal"])
      .optional()
      .describe(
        "equal: a compared variant is healthy only while each probe finds its data equal to those of another variant, and it is not the odd one out",
      ),
  }),
  history: parameters({
    hours: z.coerce
      .number("expected a number above 0 and below 1000")
      .gt(0)
      .lt(1_000)
      .default(24)
      .describe("How far back to go"),
    points: count(99_999, 10_000).describe(
      "The maximum number of points; if there are more, neighbours are reduced to the point at which the targets were furthest behind",
    ),
  }),
  statusHistory: parameters(span("24h", 1_000)),
  events: parameters({ ...span("24h", 200), ...FILTERS }),
  incidents: parameters(span("7d", 200)),
};

/** A query for events; an absent filter lets everything pass. */
export type EventQuery = z.output<typeof QUERIES.events>;

/** Reads the query of a route, or returns an error message. An empty parameter counts as absent. */
export function readQuery<Schema extends z.ZodType>(schema: Schema, query: Query): z.output<Schema> | string {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => String(value).trim() !== ""));
  const { data, error } = schema.safeParse(given);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) {
    return data as z.output<Schema>;
  }
  const [name] = issue.path;
  if (name === undefined) {
    return issue.message;
  }
  const value = given[String(name)];
  const fault = Array.isArray(value) ? "expected one value" : issue.message;
  return `Cannot use ${String(name)} ${JSON.stringify(value).slice(0, 100)}: ${fault}`;
}

/** Like `readQuery`, for a route about an interval of time. An end in the future counts as now. */
export function readSpanQuery<Parameters extends Interval>(
  schema: z.ZodType<Parameters>,
  query: Query,
  now: string,
): Parameters | string {
  const read = readQuery(schema, query);
  if (typeof read === "string") {
    return read;
  }
  const from = isoTime(timeOf(read.from, now));
  const to = isoTime(Math.min(timeOf(read.to, now), Date.parse(now)));
  return from < to ? { ...read, from, to } : `Cannot use from ${from}: expected a time before ${to}`;
}
