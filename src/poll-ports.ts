import { setTimeout } from "node:timers/promises";
import type { Config } from "./config/config.ts";
import type { PollLabels } from "./io/prometheus-registry.ts";
import type { Journal } from "./journal.ts";
import type { PollPorts } from "./poll.ts";
import type { Post } from "./post.ts";
import { createRedact } from "./redact.ts";
import type { Budgets } from "./schedule/budgets.ts";
import type { Tally } from "./tally.ts";
import type { World } from "./world.ts";

export interface PollPortsOptions {
  readonly world: World;
  readonly post: Post;
  /** Aborted at shutdown and at a reload. */
  readonly stopping: AbortSignal;
  readonly budgets: Budgets;
  readonly tally: Tally;
  readonly journal: Journal;
  readonly observeDuration: (labels: PollLabels, durationMs: number) => void;
}

/** Joins a poll to the budgets it draws on, the counts it adds to, and the log. */
export function createPollPorts(
  config: Pick<Config, "poll" | "secrets">,
  options: PollPortsOptions,
): PollPorts {
  const { world, post, stopping, budgets, tally, journal, observeDuration } = options;
  const redact = createRedact(config.secrets);
  return {
    post,
    use: "poll",
    draw: (endpoint, use) => Promise.resolve(budgets.tryTake(endpoint, use, world.nowMs())),
    backOff: (endpoint, retryAfterMs) => {
      const nowMs = world.nowMs();
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
