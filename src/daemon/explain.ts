import type { Endpoint } from "../core/model/fleet.ts";
import type { Observation } from "../core/model/observation.ts";
import { requestOf } from "../dialects/dialect.ts";
import { questionsFor } from "../dialects/families.ts";
import type { Monitor } from "./monitor.ts";
import { type EndpointState, noteExchange } from "./polling/endpoint-state.ts";
import { interpretResult } from "./polling/interpret-result.ts";
import type { PollTools } from "./polling/poll.ts";

/**
 * Asks graph-node's index-node API once why a target of an endpoint is not `ok`. A failure of this request
 * changes nothing about the target.
 */
export async function explain(
  api: Endpoint,
  { statusExchanges }: EndpointState,
  { post, redact, world }: PollTools,
  monitor: Monitor,
): Promise<void> {
  const [question] = questionsFor(api);
  if (question === undefined) {
    return;
  }
  const result = await post(requestOf(api, question));
  const { answer, exchange } = interpretResult(api, question, result, redact);
  if (exchange.outcome === "aborted") {
    return;
  }
  noteExchange(statusExchanges, exchange);
  if (answer.kind !== "answered") {
    world.logger.debug({ endpoint: api.key, detail: exchange.text }, "Index-node API gave no usable reply");
    return;
  }
  for (const observation of answer.observations) {
    const text = explanationIn(observation, api);
    // A reason with a text that changes with each reply is logged once.
    if (text !== undefined && monitor.keepExplanation(observation.source, text)) {
      world.logger.warn({ target: observation.source, detail: text }, "graph-node reports a failure");
    }
  }
}

/** Why a deployment fails, as the API reports it: null if it names no reason, undefined if the reply cannot be read. */
function explanationIn(observation: Observation, { targets }: Endpoint): string | null | undefined {
  if (observation.kind !== "failed") {
    return observation.kind === "head" ? (observation.head.failure ?? null) : null;
  }
  if (observation.reason === "not_found") {
    return `its graph-node does not index ${targets.map(({ deployment }) => deployment).join(", ")}`;
  }
  return observation.reason === "indexing_error" ? observation.detail : undefined;
}
