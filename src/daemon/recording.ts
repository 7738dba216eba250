import { z } from "zod";
import { endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { FAILURE_REASONS, type Observation } from "../core/model/observation.ts";

/** A restart of the daemon, with the state of the former process or without it. */
export interface Restart {
  readonly kind: "restart";
  readonly atMs: number;
  readonly state: "kept" | "lost";
}

/** What a line of a recording says; the source of an observation still has its recorded name. */
export type Recorded = Observation | Restart;

const Milliseconds = z.int().nonnegative();
const Observed = { source: z.string().min(1), sent: Milliseconds, received: Milliseconds };
const HeadLine = z.object({
  ...Observed,
  kind: z.literal("head"),
  block: z.int().positive(),
  time: z.number().nullish(),
  hash: z.string().nullish(),
  deployment: z.string().nullish(),
  indexing_errors: z.boolean().nullish(),
  failure: z.string().optional(),
});
const FailedLine = z.object({
  ...Observed,
  kind: z.literal("failed"),
  reason: z.enum(FAILURE_REASONS),
  detail: z.string().default(""),
});
const RestartLine = z.object({ restart: Milliseconds, state: z.enum(["kept", "lost"]) });
const ObservationLine = z.discriminatedUnion("kind", [
  HeadLine,
  FailedLine,
  z.object({ ...Observed, kind: z.literal("not_started") }),
  z.object({ ...Observed, kind: z.literal("missing") }),
]);

/**
 * The names of a fleet's sources in a recording, by their keys. A target has its own key; the first RPC node of a chain's list is
 * `rpc/base/1`, because a recording contains no URL.
 */
export function recordedNames(fleet: Fleet): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  return new Map(
    endpointsOf(fleet).flatMap(({ kind, key, chain, targets }) => {
      if (kind !== "rpc") {
        return targets.map((target) => [target.key, target.key] as const);
      }
      const slug = chain ?? "";
      const count = (counts.get(slug) ?? 0) + 1;
      counts.set(slug, count);
      return [[key, `rpc/${slug}/${count}`] as const];
    }),
  );
}

/** The line of one observation, without its end; keys without a value are left out. */
export function observationLine(observation: Observation, source: string): string {
  const { kind, sentAtMs: sent, receivedAtMs: received } = observation;
  const common = { source, sent, received, kind };
  switch (observation.kind) {
    case "head": {
      const { block, timestampSec, hash, deployment, indexingErrors, failure } = observation.head;
      const known = { time: timestampSec, hash, deployment, indexing_errors: indexingErrors, failure };
      const present = Object.entries(known).filter(([, value]) => value !== null && value !== undefined);
      return JSON.stringify({ ...common, block, ...Object.fromEntries(present) });
    }
    case "failed":
      return JSON.stringify({ ...common, reason: observation.reason, detail: observation.detail });
    case "not_started":
    case "missing":
      return JSON.stringify(common);
  }
}

export function restartLine({ atMs, state }: Omit<Restart, "kind">): string {
  return JSON.stringify({ restart: atMs, state });
}

/** Reads one line, or says what is wrong with it. */
export function readRecordedLine(
  line: string,
): Recorded | { readonly kind: "invalid"; readonly found: string } {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { kind: "invalid", found: "not valid JSON" };
  }
  const isRestart = typeof json === "object" && json !== null && "restart" in json;
  const parsed = isRestart ? RestartLine.safeParse(json) : ObservationLine.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
    return { kind: "invalid", found: `${at}${issue?.message ?? "not a line of a recording"}` };
  }
  const { data } = parsed;
  return "restart" in data ? { kind: "restart", atMs: data.restart, state: data.state } : toObservation(data);
}

function toObservation(line: z.infer<typeof ObservationLine>): Observation {
  const common = { source: line.source, sentAtMs: line.sent, receivedAtMs: line.received };
  switch (line.kind) {
    case "head": {
      const { block, time, hash, deployment, indexing_errors: indexingErrors, failure } = line;
      const head = {
        block,
        timestampSec: time ?? null,
        hash: hash ?? null,
        deployment: deployment ?? null,
        indexingErrors: indexingErrors ?? null,
        ...(failure === undefined ? {} : { failure }),
      };
      return { ...common, kind: "head", head };
    }
    case "failed":
      return { ...common, kind: "failed", reason: line.reason, detail: line.detail };
    case "not_started":
    case "missing":
      return { ...common, kind: line.kind };
  }
}
