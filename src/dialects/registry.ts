import type { Endpoint } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import { customQuestions } from "./custom.ts";
import type { Dialect, Question } from "./dialect.ts";
import { envio } from "./envio.ts";
import { graph } from "./graph.ts";
import { graphStatusQuestions } from "./graph-status.ts";
import { ponder } from "./ponder.ts";
import { rpc } from "./rpc.ts";
import { squid } from "./squid.ts";
import { subquery } from "./subquery.ts";

/** The families of indexers that `auto` can detect. */
export const DIALECTS = { graph, envio, ponder, squid, subquery } as const satisfies Record<string, Dialect>;

/** The values of `dialect` in chains.yaml, beside `auto`. */
export const DIALECT_NAMES: readonly string[] = [...Object.keys(DIALECTS), "graph-status", "custom"];

type AskedEndpoint = Pick<Endpoint, "kind" | "dialect" | "targets" | "custom">;

/**
 * What an endpoint may be asked, likeliest first. All that has to be remembered of an endpoint is the index of the
 * question that fitted last.
 *
 * @throws {RangeError} If the endpoint's dialect is not in the registry; the configuration accepts no such name.
 */
export const questionsFor = memoize((endpoint: AskedEndpoint): readonly Question[] => {
  if (endpoint.kind === "rpc") {
    return rpc.questions;
  }
  if (endpoint.dialect === "auto") {
    return likeliestFirst(endpoint.targets.length).flatMap(({ questions }) => questions);
  }
  if (endpoint.custom !== undefined) {
    return customQuestions(endpoint.custom);
  }
  if (endpoint.dialect === "graph-status") {
    return graphStatusQuestions(endpoint.targets);
  }
  const dialect = new Map<string, Dialect>(Object.entries(DIALECTS)).get(endpoint.dialect);
  if (dialect === undefined) {
    throw new RangeError(`Cannot use dialect "${endpoint.dialect}": it is not in the registry`);
  }
  return dialect.questions;
});

/** A subgraph has one chain: the first guess for an endpoint of one chain, the last for one of several. */
function likeliestFirst(chainCount: number): readonly Dialect[] {
  const others = Object.values(DIALECTS).filter((dialect) => dialect !== graph);
  return chainCount > 1 ? [...others, graph] : [graph, ...others];
}
