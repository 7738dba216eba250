import { z } from "zod";
import { endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import { FAILURE_REASONS, type Observation } from "../core/model/observation.ts";
import { parseJson } from "../core/model/text.ts";

/** A restart of the daemon, with the state of the former process or without it. */
export interface Restart {
  readonly kind: "restart";
  readonly atMs: number;
  readonly state: "kept" | "lost";
}

/** The content of a line of a recording. The source of an observation has its recorded name. */
export type Recorded = Observation | Restart;

const Milliseconds = z.int().nonnegative();
const Common = { source: z.string().min(1), sent: Milliseconds, received: Milliseconds };
const ObservationLine = z
  .discriminatedUnion("kind", [
    z.object({
      ...Common,
      kind: z.literal("head"),
      block: z.int().positive(),
      time: z.number().nullable().default(null),
      hash: z.string().nullable().default(null),
      deployment: z.string().nullable().default(null),
      indexing_errors: z.boolean().nullable().default(null),
      failure: z.string().optional(),
      completed: z.literal(true).optional(),
      queries: z
        .array(
          z.object({
            probe: z.string(),
            asked: z.string(),
            took: Milliseconds,
            failure: z.string().optional(),
          }),
        )
        .optional(),
    }),
    z.object({
      ...Common,
      kind: z.literal("failed"),
      reason: z.enum(FAILURE_REASONS),
      detail: z.string().default(""),
      next: Milliseconds.optional(),
    }),
    z.object({ ...Common, kind: z.enum(["not_started", "missing"]) }),
  ])
  .transform(({ source, sent: sentAtMs, received: receivedAtMs, ...said }): Observation => {
    const common = { source, sentAtMs, receivedAtMs };
    if (said.kind === "failed") {
      const { next, ...failure } = said;
      return { ...common, ...failure, ...(next === undefined ? {} : { nextMs: next }) };
    }
    if (said.kind !== "head") {
      return { ...common, ...said };
    }
    const { block, time: timestampSec, hash, deployment, indexing_errors: indexingErrors } = said;
    const { completed, failure } = said;
    const words = { ...(failure !== undefined && { failure }), ...(completed && { completed }) };
    const queries = said.queries?.map(({ asked: queryKey, probe, took: tookMs, failure: why = null }) => {
      return { probe, queryKey, tookMs, failure: why };
    });
    return {
      ...common,
      kind: "head",
      head: { block, timestampSec, hash, deployment, indexingErrors, ...words },
      ...(queries && { queries }),
    };
  });
const RestartLine = z
  .object({ restart: Milliseconds, state: z.enum(["kept", "lost"]) })
  .transform(({ restart, state }): Restart => ({ kind: "restart", atMs: restart, state }));

/**
 * The names of a fleet's sources in a recording, by their keys. A target has its own key; the first RPC node of a chain's list is
 * `rpc/base/1`, because a recording contains no URL.
 */
export const recordedNames = memoize((fleet: Fleet): ReadonlyMap<string, string> => {
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
});

/** The line of one observation of a fleet, without the line break; keys without a value are left out. */
export function observationLine(observation: Observation, fleet: Fleet): string {
  const { kind, sentAtMs: sent, receivedAtMs: received } = observation;
  const source = recordedNames(fleet).get(observation.source) ?? observation.source;
  const line = { source, sent, received, kind, ...saidBy(observation) };
  return JSON.stringify(line, (_key, value: unknown) => value ?? undefined);
}

function saidBy(observation: Observation): object {
  if (observation.kind === "head") {
    const { block, timestampSec: time, hash, deployment, indexingErrors, ...words } = observation.head;
    const queries = observation.queries?.map(({ probe, queryKey: asked, tookMs: took, failure }) => {
      return { probe, asked, took, failure };
    });
    return { block, time, hash, deployment, indexing_errors: indexingErrors, ...words, queries };
  }
  if (observation.kind === "failed") {
    const { reason, detail, nextMs: next } = observation;
    return { reason, detail, next };
  }
  return {};
}

export function restartLine({ atMs, state }: Omit<Restart, "kind">): string {
  return JSON.stringify({ restart: atMs, state });
}

/** Reads one line; null if it is not valid JSON, for example because a crash cut it off. */
export function readRecordedLine(
  line: string,
): Recorded | { readonly kind: "invalid"; readonly found: string } | null {
  const json = parseJson(line);
  if (json === undefined) {
    return null;
  }
  const isRestart = typeof json === "object" && json !== null && "restart" in json;
  const { data, error } = (isRestart ? RestartLine : ObservationLine).safeParse(json);
  if (data !== undefined) {
    return data;
  }
  const [issue] = error.issues;
  const at = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return {
    kind: "invalid",
    found: `${at}${issue?.message.replace("Invalid input: ", "") ?? "not a line of a recording"}`,
  };
}
