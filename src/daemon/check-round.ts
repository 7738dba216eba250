import { type BudgetRecord, createBudgetGate } from "../budgets/gate.ts";
import type { Config } from "../config/config.ts";
import type { ChainState } from "../core/head/chain-state.ts";
import { type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import type { Post } from "../core/model/http-post.ts";
import type { Report } from "../core/model/report.ts";
import type { World } from "../io/world.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import { Monitor } from "./monitor.ts";
import { PollCounters } from "./polling/counters.ts";
import { DialectCache } from "./polling/dialect-cache.ts";
import { ExchangeLog } from "./polling/exchange-log.ts";
import { Explainer } from "./polling/explain.ts";
import { pollOrder } from "./polling/order.ts";
import { type PollPorts, poll } from "./polling/poll.ts";
import { createPollPorts } from "./polling/ports.ts";
import { createPollQueue } from "./polling/queue.ts";
import type { RestoredState } from "./state/load.ts";
import { openStateStore, type StateStoreOptions } from "./state/store.ts";

export interface CheckRoundOptions {
  readonly post: Post;
  /** Called before the first poll, and after each. */
  readonly onProgress: (done: number, total: number) => void;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "random" | "logger">;
  /** Its budgets are drawn on; null where those of the store are. */
  readonly stateFile: string | null;
  /** The budgets of the store; null where those of the state file are drawn on. */
  readonly shared: BudgetRecord | null;
}

/**
 * One round for `synclag check`: polls once every endpoint that serves one of these chains, of any protocol, since
 * together they make the reference that each is measured against.
 *
 * Statuses of an earlier process do not count, but what is observed now is saved for the next one; what the state file
 * knows of sources of another configuration stays in it.
 *
 * @throws {StateLockedError} If a living process has the state file.
 */
export async function checkRound(
  config: Config,
  chains: ReadonlySet<string>,
  options: CheckRoundOptions,
): Promise<Report> {
  const { world } = options;
  const fleet = onlyServing(config.fleet, chains);
  // The report is of these endpoints alone: what is not polled cannot show whether anything can be reached.
  const monitor = startMonitor({ ...config, fleet }, world);
  const saved = startMonitor(config, world);
  const dialects = new DialectCache();
  await using store = await openStateStore(options.stateFile, config.fleet, {
    world,
    state: () => withOthers(saved, dialects, restored),
    onLockLost: ({ message }) => world.logger.error(message),
  });
  const { restored } = store;
  const gate = createBudgetGate(options.shared ?? store, world.random);
  gate.allowProbes();
  saved.restore(restored.chains, restored.incidents);
  dialects.restore(restored.questions, config.fleet, () => false);
  const scheduled = createPollPorts(config, {
    ...options,
    gate,
    stopping: new AbortController().signal,
    // One round counts and logs nothing: failures are in the report.
    counters: new PollCounters(),
    exchangeLog: new ExchangeLog(),
  });
  // A person's check must not spend what the schedule of a daemon needs.
  const ports: PollPorts = { ...scheduled, use: "opportunistic", unsent: "observed" };
  const queue = createPollQueue(config.poll, world.monotonicMs);
  const explainer = new Explainer({
    post: options.post,
    queue,
    redact: ports.redact,
    hasTrouble: (endpoint) => monitor.hasTrouble(endpoint),
    explain: (target, explanation) => monitor.explain(target, explanation),
    onExchange: () => undefined,
    // The reason is in the report.
    logger: { warn: () => undefined, debug: () => undefined },
  });
  const endpoints = pollOrder(endpointsOf(fleet));

  const explanations: Promise<void>[] = [];
  let done = 0;
  options.onProgress(done, endpoints.length);
  async function pollOnce(endpoint: Endpoint): Promise<void> {
    const result = await poll(endpoint, dialects.searchOf(endpoint), ports);
    dialects.note(endpoint, result.search);
    monitor.observe(result.observations);
    saved.observe(result.observations);
    saved.observeParity(result.readings);
    explanations.push(explainer.onPolled(endpoint, result.observations));
    done += 1;
    options.onProgress(done, endpoints.length);
  }

  await Promise.all(endpoints.map((endpoint) => queue.add(endpoint.host, () => pollOnce(endpoint))));
  await Promise.all(explanations);
  return {
    ...withParityOf(monitor.report(), saved.report()),
    budgets: gate.report(),
  };
}

/** What the file knows of sources that this configuration lacks stays in it: it may be a daemon's. */
function withOthers(
  monitor: Monitor,
  dialects: DialectCache,
  former: RestoredState,
): ReturnType<StateStoreOptions["state"]> {
  const own = monitor.save();
  const chains = Object.entries(own.chains).map(
    ([slug, state]) => [slug, withOtherSources(state, former.chains.get(slug))] as const,
  );
  return {
    ...own,
    chains: Object.fromEntries([...former.chains, ...chains]),
    questions: { ...Object.fromEntries(former.questions), ...dialects.save() },
  };
}

function withOtherSources(own: ChainState, former: ChainState | undefined): ChainState {
  const others = former?.sources.filter(({ key }) => own.sentTo[key] === undefined) ?? [];
  return {
    ...own,
    sources: [...own.sources, ...others].sort((a, b) => (a.key < b.key ? -1 : 1)),
    sentTo: { ...former?.sentTo, ...own.sentTo },
  };
}

/** Whether data are the same follows from many polls: here alone, those of earlier processes count. */
function withParityOf(report: Report, saved: Report): Report {
  const polled = new Set(report.chains.map(({ slug }) => slug));
  return { ...report, parity: saved.parity.filter(({ chain }) => polled.has(chain)) };
}

function startMonitor({ fleet, maintenance }: Config, { nowMs }: Pick<World, "nowMs">): Monitor {
  return new Monitor(fleet, {
    nowMs,
    budgets: () => [],
    maintenance: (atMs) => openMaintenance(maintenance, atMs),
  });
}

/** The fleet without the endpoints that serve none of these chains. */
function onlyServing(fleet: Fleet, chains: ReadonlySet<string>): Fleet {
  const serving = (endpoints: readonly Endpoint[]) =>
    endpoints.filter((endpoint) => serves(endpoint, chains));
  return {
    ...fleet,
    indexers: fleet.indexers.map((indexer) => ({ ...indexer, endpoints: serving(indexer.endpoints) })),
    rpcEndpoints: serving(fleet.rpcEndpoints),
  };
}

function serves({ chain, targets }: Endpoint, chains: ReadonlySet<string>): boolean {
  return chain === null ? targets.some((target) => chains.has(target.chain)) : chains.has(chain);
}
