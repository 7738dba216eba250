import { setMaxListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Budgets } from "../../budgets/budgets.ts";
import type { Grant } from "../../budgets/grant.ts";
import type { Use } from "../../budgets/ledger.ts";
import { refusedUnrecorded } from "../../budgets/refusal.ts";
import type { Config } from "../../config/config.ts";
import type { Endpoint, IndexerId } from "../../core/model/fleet.ts";
import type { Post } from "../../core/model/http-post.ts";
import { createRedact } from "../../core/model/redact.ts";
import type { World } from "../../world.ts";
import type { StateStore } from "../state/store.ts";
import type { PollCounters } from "./counters.ts";
import type { ExchangeLog } from "./exchange-log.ts";
import type { PollPorts } from "./poll.ts";

export interface PollPortsOptions {
  readonly world: Pick<World, "nowMs" | "random" | "logger">;
  readonly post: Post;
  /** Aborted at shutdown and at a reload. */
  readonly stopping: AbortSignal;
  readonly budgets: Budgets;
  /** The clock that they go by. */
  readonly budgetNowMs: () => number;
  readonly keeper: Pick<StateStore, "problem" | "recorded">;
  readonly tally: PollCounters;
  readonly journal: ExchangeLog;
  readonly observeDuration: (labels: IndexerId, durationMs: number) => void;
}

/** Joins a poll to the budgets it draws on, the counts it adds to, and the log. */
export function createPollPorts(
  config: Pick<Config, "poll" | "secrets">,
  options: PollPortsOptions,
): PollPorts {
  const { world, post, stopping, budgets, budgetNowMs, tally, journal, observeDuration } = options;
  const redact = createRedact(config.secrets);
  // In an outage every poll under way sleeps before its retry, each with a listener: no leak that Node should warn of.
  setMaxListeners(Number.POSITIVE_INFINITY, stopping);
  return {
    post,
    use: "poll",
    draw: (endpoint, use) => draw(endpoint, use, options),
    backOff: (endpoint, retryAfterMs) => {
      const nowMs = budgetNowMs();
      const untilMs = retryAfterMs === null ? null : nowMs + retryAfterMs;
      budgets.refuse(endpoint, { nowMs, untilMs, random: world.random() });
    },
    onRequest: (endpoint, exchange) => {
      tally.countRequest(endpoint);
      journal.note(endpoint, exchange);
      observeDuration(endpoint, exchange.receivedAtMs - exchange.sentAtMs);
    },
    onFailure: (endpoint, { reason, detail }) => {
      tally.countFailure(endpoint, reason);
      world.logger.debug({ endpoint: endpoint.key, reason, detail: redact(detail) }, "Poll failed");
    },
    sleep: (durationMs) => sleepUntil(durationMs, stopping),
    nowMs: world.nowMs,
    random: world.random,
    redact,
    retries: config.poll.retries,
  };
}

/** For a poll beside the schedule: from what its budget can spare, and itself a retry. */
export function confirmationPoll(ports: PollPorts): PollPorts {
  return { ...ports, use: "spare", retries: 0 };
}

/**
 * Takes from the endpoint's budget, and waits until that is on disk: a crash may lose a request, and never its count.
 * What can't be counted is not sent. An endpoint without a budget waits for nothing.
 */
async function draw(
  endpoint: Endpoint,
  use: Use,
  { budgets, budgetNowMs, keeper }: PollPortsOptions,
): Promise<Grant> {
  if (endpoint.budget === null) {
    return budgets.tryTake(endpoint, use, budgetNowMs());
  }
  const problem = keeper.problem();
  if (problem !== null) {
    return refusedUnrecorded(problem);
  }
  const drawn = budgets.tryTake(endpoint, use, budgetNowMs());
  if (drawn.kind === "refused") {
    return drawn;
  }
  try {
    await keeper.recorded();
    return drawn;
  } catch (error) {
    return refusedUnrecorded(error instanceof Error ? error.message : String(error));
  }
}

/** Sleeps, or less where `stopping` is aborted. */
async function sleepUntil(durationMs: number, stopping: AbortSignal): Promise<"done" | "stopped"> {
  try {
    return await setTimeout(durationMs, "done" as const, { signal: stopping });
  } catch (error) {
    if (!stopping.aborted) {
      throw error;
    }
    return "stopped";
  }
}
