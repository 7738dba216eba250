import type { Logger } from "pino";
import type { Exchange } from "../../core/model/exchange.ts";
import { type Endpoint, statusEndpointOf } from "../../core/model/fleet.ts";
import type { Post } from "../../core/model/http-post.ts";
import type { Observation } from "../../core/model/observation.ts";
import type { Redact } from "../../core/model/redact.ts";
import type { Outcome } from "../../dialects/dialect.ts";
import { questionsFor } from "../../dialects/families.ts";
import { interpretResult } from "./interpret-result.ts";
import type { PollQueue } from "./queue.ts";

/** What asking an index-node API needs from outside. */
export interface ExplainerPorts {
  readonly post: Post;
  /** The requests count towards the limits of concurrency. */
  readonly queue: Pick<PollQueue, "add">;
  readonly redact: Redact;
  /** Whether a target of the endpoint is not `ok`. */
  readonly hasTrouble: (endpoint: Endpoint) => boolean;
  /** Takes in what the API says of a target; null: it names no reason. */
  readonly explain: (target: string, explanation: string | null) => "news" | "known";
  readonly onExchange: (statusEndpoint: Endpoint, exchange: Exchange) => void;
  readonly logger: Pick<Logger, "warn" | "debug">;
}

/**
 * Asks graph-node's index-node API why a target is not `ok`: once after a poll, one request at a time for each endpoint,
 * and never retried. What goes wrong with it changes nothing of the target.
 */
export class Explainer {
  readonly #ports: ExplainerPorts;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(ports: ExplainerPorts) {
    this.#ports = ports;
  }

  /** Call after each poll, once its observations are taken in. Settles when the API has answered, if it was asked. */
  async onPolled(endpoint: Endpoint, observations: readonly Observation[]): Promise<void> {
    const api = statusEndpointOf(endpoint);
    if (api === null || this.#underWay.has(api.key) || !observations.some(wasSent)) {
      return;
    }
    if (!this.#ports.hasTrouble(endpoint)) {
      return;
    }
    const asked = this.#ports.queue.add(api.host, () => this.#ask(api));
    this.#underWay.set(api.key, asked);
    try {
      await asked;
    } finally {
      this.#underWay.delete(api.key);
    }
  }

  /** Settles when no request is under way any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  async #ask(api: Endpoint): Promise<void> {
    const { post, redact, explain, onExchange, logger } = this.#ports;
    const [question] = questionsFor(api);
    if (question === undefined) {
      throw new TypeError(`Cannot ask ${api.key}: its dialect has no question`);
    }
    const result = await post({ url: api.url, headers: api.headers, body: question.body });
    const { answer, exchange } = interpretResult({ endpoint: api, question, result }, redact);
    if (exchange.outcome === "aborted") {
      return;
    }
    onExchange(api, exchange);
    if (answer.kind !== "answered") {
      logger.debug({ endpoint: api.key, detail: exchange.text }, "Index-node API gave no answer");
      return;
    }
    for (const outcome of answer.outcomes) {
      const { kind, text } = explanationIn(outcome, api);
      // A reason whose words change with each answer is logged once.
      if (kind === "read" && explain(outcome.source, text) === "news" && text !== null) {
        logger.warn({ target: outcome.source, detail: text }, "Reason found");
      }
    }
  }
}

/** Whether a request was sent for it: where our own budget held it back, the reason is known. */
function wasSent(observation: Observation): boolean {
  return observation.kind !== "failed" || observation.reason !== "budget";
}

/** What the API says of a deployment; a text of null names no reason, which proves nothing. */
function explanationIn(
  outcome: Outcome,
  { targets }: Endpoint,
): { readonly kind: "read" | "unreadable"; readonly text: string | null } {
  if (outcome.kind !== "failed") {
    return { kind: "read", text: outcome.kind === "head" ? (outcome.head.failure ?? null) : null };
  }
  switch (outcome.reason) {
    case "indexing_error":
      return { kind: "read", text: outcome.detail };
    case "not_found":
      return {
        kind: "read",
        text: `its graph-node does not index ${targets.map(({ deployment }) => deployment).join(", ")}`,
      };
    default:
      return { kind: "unreadable", text: null };
  }
}
