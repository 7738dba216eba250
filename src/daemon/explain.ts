import { type Endpoint, statusEndpointOf } from "../core/model/fleet.ts";
import type { Observation } from "../core/model/observation.ts";
import { type Outcome, requestOf } from "../dialects/dialect.ts";
import { questionsFor } from "../dialects/families.ts";
import type { Monitor } from "./monitor.ts";
import type { EndpointState } from "./polling/endpoint-state.ts";
import { interpretResult } from "./polling/interpret-result.ts";
import type { PollTools } from "./polling/poll.ts";
import type { PollQueue } from "./polling/queue.ts";

/**
 * Asks graph-node's index-node API why a target is not `ok`: once after a poll, one request at a time for each endpoint,
 * and never retried. What goes wrong with it changes nothing of the target.
 */
export class Explainer {
  readonly #tools: Pick<PollTools, "post" | "redact" | "world">;
  readonly #monitor: Monitor;
  readonly #queue: PollQueue;
  readonly #underWay = new Map<string, Promise<void>>();

  /** `queue`: the requests count towards the limits of concurrency. */
  constructor(tools: Pick<PollTools, "post" | "redact" | "world">, monitor: Monitor, queue: PollQueue) {
    this.#tools = tools;
    this.#monitor = monitor;
    this.#queue = queue;
  }

  /** Call after each poll, once its observations are taken in. Settles when the API has answered, if it was asked. */
  async onPolled(state: EndpointState, observations: readonly Observation[]): Promise<void> {
    const api = statusEndpointOf(state.endpoint);
    // Where our own budget held the poll back, the reason is known.
    const wasSent = observations.some((one) => one.kind !== "failed" || one.reason !== "budget");
    if (
      api === null ||
      this.#underWay.has(api.key) ||
      !wasSent ||
      !this.#monitor.hasTrouble(state.endpoint)
    ) {
      return;
    }
    const asked = this.#queue.add(api.host, () => this.#ask(api, state));
    this.#underWay.set(api.key, asked);
    try {
      await asked;
    } finally {
      this.#underWay.delete(api.key);
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  async #ask(api: Endpoint, { statusExchanges }: EndpointState): Promise<void> {
    const { post, redact, world } = this.#tools;
    const [question] = questionsFor(api);
    if (question === undefined) {
      return;
    }
    const result = await post(requestOf(api, question));
    const { answer, exchange } = interpretResult(api, question, result, redact);
    if (exchange.outcome === "aborted") {
      return;
    }
    statusExchanges.note(exchange);
    if (answer.kind !== "answered") {
      world.logger.debug({ endpoint: api.key, detail: exchange.text }, "Index-node API gave no answer");
      return;
    }
    for (const outcome of answer.outcomes) {
      const text = explanationIn(outcome, api);
      // A reason with a text that changes with each reply is logged once.
      if (text !== undefined && this.#monitor.explain(outcome.source, text)) {
        world.logger.warn({ target: outcome.source, detail: text }, "Reason found");
      }
    }
  }
}

/** What the API says of a deployment: null where it names no reason, undefined where it cannot be read. */
function explanationIn(outcome: Outcome, { targets }: Endpoint): string | null | undefined {
  if (outcome.kind !== "failed") {
    return outcome.kind === "head" ? (outcome.head.failure ?? null) : null;
  }
  if (outcome.reason === "not_found") {
    return `its graph-node does not index ${targets.map(({ deployment }) => deployment).join(", ")}`;
  }
  return outcome.reason === "indexing_error" ? outcome.detail : undefined;
}
