import { Budgets } from "../budgets/budgets.ts";
import { createSteadyClock } from "../budgets/steady-clock.ts";
import type { Config } from "../config/config.ts";
import { type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import type { Post } from "../core/model/http-post.ts";
import type { Report } from "../core/model/report.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import type { World } from "../world.ts";
import { Monitor } from "./monitor.ts";
import { PollCounters } from "./polling/counters.ts";
import { DialectCache } from "./polling/dialect-cache.ts";
import { ExchangeLog } from "./polling/exchange-log.ts";
import { pollOrder } from "./polling/order.ts";
import { poll } from "./polling/poll.ts";
import { createPollPorts } from "./polling/ports.ts";
import { createPollQueue } from "./polling/queue.ts";
import { takeSnapshot } from "./state/snapshot.ts";
import { openStateStore } from "./state/store.ts";

export interface CheckRoundOptions {
  readonly post: Post;
  /** Called before the first poll, and after each. */
  readonly onProgress: (done: number, total: number) => void;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "random" | "logger">;
  /** Whose budgets are drawn on. */
  readonly stateFile: string;
}

/**
 * One round by itself, for `synclag check`: asks once every endpoint that can speak of these chains, whatever its
 * protocol, since together they make the reference that each is measured against.
 *
 * It is one look: what a former process thought of a target does not count, though what is seen now is remembered.
 *
 * @throws {StateHeldError} If a living process has the state file.
 */
export async function checkRound(
  config: Config,
  chains: ReadonlySet<string>,
  options: CheckRoundOptions,
): Promise<Report> {
  const { fleet } = config;
  const { world } = options;
  const clock = createSteadyClock(world);
  const budgets = new Budgets(fleet);
  const askable = onlyWhatSpeaksOf(fleet, chains);
  // What is not asked can't say, either, whether anything can be reached.
  const look = startMonitor({ ...config, fleet: askable }, world);
  const monitor = startMonitor(config, world);
  const asked = new DialectCache();
  await using keeper = await openStateStore(options.stateFile, {
    world,
    keepsake: () => takeSnapshot({ monitor, budgets, clock, endpoints: asked, nowMs: world.nowMs }),
    onLost: ({ message }) => world.logger.error(message),
  });
  const { remembered } = keeper;
  budgets.restore(remembered.budgets);
  monitor.restore(remembered.chains, remembered.incidents);
  asked.restore(remembered.questions, fleet, () => false);
  const ports = createPollPorts(config, {
    ...options,
    budgets,
    keeper,
    budgetNowMs: clock.nowMs,
    stopping: new AbortController().signal,
    // One look counts and logs nothing: what failed stands in the report.
    tally: new PollCounters(),
    journal: new ExchangeLog(),
    observeDuration: () => undefined,
  });
  const queue = createPollQueue(config.poll);
  const endpoints = pollOrder(endpointsOf(askable));

  let done = 0;
  options.onProgress(done, endpoints.length);
  async function ask(endpoint: Endpoint): Promise<void> {
    const result = await poll(endpoint, asked.questionOf(endpoint), ports);
    asked.note(endpoint, result.questionIndex);
    monitor.observe(result.observations);
    look.observe(result.observations);
    done += 1;
    options.onProgress(done, endpoints.length);
  }

  await Promise.all(
    endpoints.map(
      (endpoint) =>
        new Promise<void>((resolve, reject) => {
          queue.add(endpoint.host, () => ask(endpoint).then(resolve, reject));
        }),
    ),
  );
  return { ...look.report(), budgets: budgets.report(clock.nowMs()) };
}

function startMonitor({ fleet, maintenance }: Config, { nowMs }: Pick<World, "nowMs">): Monitor {
  return new Monitor(fleet, {
    nowMs,
    budgets: () => [],
    maintenance: (atMs) => openMaintenance(maintenance, atMs),
  });
}

/** The fleet without the endpoints that can't speak of any of these chains. */
function onlyWhatSpeaksOf(fleet: Fleet, chains: ReadonlySet<string>): Fleet {
  const speaking = (endpoints: readonly Endpoint[]) =>
    endpoints.filter((endpoint) => speaksOf(endpoint, chains));
  return {
    ...fleet,
    indexers: fleet.indexers.map((indexer) => ({ ...indexer, endpoints: speaking(indexer.endpoints) })),
    rpcEndpoints: speaking(fleet.rpcEndpoints),
  };
}

function speaksOf({ chain, targets }: Endpoint, chains: ReadonlySet<string>): boolean {
  return chain === null ? targets.some((target) => chains.has(target.chain)) : chains.has(chain);
}
