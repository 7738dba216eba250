import { setTimeout } from "node:timers/promises";
import type { Config } from "./config/config.ts";
import { type Endpoint, endpointsOf } from "./core/fleet.ts";
import type { Report } from "./core/report.ts";
import { Monitor } from "./monitor.ts";
import { type PollPorts, poll } from "./poll.ts";
import type { Post } from "./post.ts";
import { createRedact } from "./redact.ts";
import { Budgets } from "./schedule/budgets.ts";
import { createPollQueue } from "./schedule/poll-queue.ts";
import { pollOrder } from "./schedule/spread.ts";

export interface CheckRoundOptions {
  readonly post: Post;
  /** Called before the first poll, and after each. */
  readonly onProgress: (done: number, total: number) => void;
  readonly nowMs: () => number;
  readonly random: () => number;
}

/**
 * One round by itself, for `synclag check`: asks once every endpoint that can speak of these chains, whatever its
 * protocol, since together they make the reference that each is measured against.
 */
export async function checkRound(
  config: Config,
  chains: ReadonlySet<string>,
  options: CheckRoundOptions,
): Promise<Report> {
  const { fleet } = config;
  const budgets = new Budgets(fleet);
  const monitor = new Monitor(fleet, {
    nowMs: options.nowMs,
    budgets: (nowMs) => budgets.report(nowMs),
  });
  const ports = checkPorts(config, budgets, options);
  const queue = createPollQueue(config.poll);
  const endpoints = pollOrder(endpointsOf(fleet).filter((endpoint) => speaksOf(endpoint, chains)));

  let done = 0;
  options.onProgress(done, endpoints.length);
  await Promise.all(
    endpoints.map((endpoint) =>
      queue.run(endpoint.host, async () => {
        const { observations } = await poll(endpoint, 0, ports);
        monitor.observe(observations);
        done += 1;
        options.onProgress(done, endpoints.length);
      }),
    ),
  );
  return monitor.report();
}

function speaksOf({ chain, targets }: Endpoint, chains: ReadonlySet<string>): boolean {
  return chain === null ? targets.some((target) => chains.has(target.chain)) : chains.has(chain);
}

/** One look counts and logs nothing: what failed stands in the report. */
function checkPorts(config: Config, budgets: Budgets, options: CheckRoundOptions): PollPorts {
  const { post, nowMs, random } = options;
  return {
    post,
    use: "poll",
    draw: (endpoint, use) => Promise.resolve(budgets.tryTake(endpoint, use, nowMs())),
    backOff: (endpoint, retryAfterMs) => {
      const now = nowMs();
      const untilMs = retryAfterMs === null ? null : now + retryAfterMs;
      budgets.refuse(endpoint, { nowMs: now, untilMs, random: random() });
    },
    onRequest: () => undefined,
    onFailure: () => undefined,
    sleep: (durationMs) => setTimeout(durationMs),
    nowMs,
    random,
    redact: createRedact(config.secrets),
    retries: config.poll.retries,
  };
}
