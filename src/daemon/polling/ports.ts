import { setMaxListeners } from "node:events";
import type { BudgetGate } from "../../budgets/gate.ts";
import type { Config } from "../../config/config.ts";
import type { Post } from "../../core/model/http-post.ts";
import { createRedact } from "../../core/model/redact.ts";
import type { World } from "../../io/world.ts";
import type { PollCounters } from "./counters.ts";
import type { ExchangeLog } from "./exchange-log.ts";
import type { PollPorts } from "./poll.ts";

export interface PollPortsOptions {
  readonly world: Pick<World, "nowMs" | "random" | "logger">;
  readonly post: Post;
  /** Aborted at shutdown and at a reload: no retry follows. */
  readonly stopping: AbortSignal;
  readonly gate: BudgetGate;
  readonly counters: PollCounters;
  readonly exchangeLog: ExchangeLog;
}

/** Connects polls to the budgets, the counters and the log. */
export function createPollPorts(
  config: Pick<Config, "poll" | "secrets">,
  options: PollPortsOptions,
): PollPorts {
  const { world, post, stopping, gate, counters, exchangeLog } = options;
  const redact = createRedact(config.secrets);
  // In an outage every poll under way waits for its retry, each with a listener: Node need not warn of a leak.
  setMaxListeners(Number.POSITIVE_INFINITY, stopping);
  return {
    post,
    use: "scheduled",
    unsent: "observed",
    acquire: gate.acquire,
    backOff: gate.backOff,
    onAccepted: gate.accept,
    onRequest: (endpoint, exchange) => {
      counters.countRequest(endpoint, exchange.receivedAtMs - exchange.sentAtMs);
      exchangeLog.note(endpoint, exchange);
    },
    onFailure: (endpoint, { reason, detail }) => {
      counters.countFailure(endpoint, reason);
      world.logger.debug({ endpoint: endpoint.key, reason, detail: redact(detail) }, "Poll failed");
    },
    sleep: (durationMs) => sleepUntil(durationMs, stopping),
    nowMs: world.nowMs,
    random: world.random,
    redact,
    retries: config.poll.retries,
  };
}

/** For a poll outside the schedule: opportunistic, and never retried. */
export function confirmationPoll(ports: PollPorts): PollPorts {
  return { ...ports, use: "opportunistic", unsent: "ignored", retries: 0 };
}

/** Sleeps; ends early when `stopping` is aborted. */
function sleepUntil(durationMs: number, stopping: AbortSignal): Promise<"done" | "stopped"> {
  return new Promise((resolve) => {
    if (stopping.aborted) {
      resolve("stopped");
      return;
    }
    const timer = setTimeout(() => {
      stopping.removeEventListener("abort", stop);
      resolve("done");
    }, durationMs);
    function stop(): void {
      clearTimeout(timer);
      resolve("stopped");
    }
    stopping.addEventListener("abort", stop, { once: true });
  });
}
