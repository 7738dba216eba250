import { setMaxListeners } from "node:events";
import type { BudgetGate } from "../budgets/gate.ts";
import type { Config } from "../config/config.ts";
import type { Suspicion } from "../core/chain/proofs.ts";
import { type Fleet, type IndexerId, indexerKey } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Observation } from "../core/model/observation.ts";
import { createRedact } from "../core/model/redact.ts";
import { formatCount } from "../core/model/text.ts";
import { startCron } from "../io/cron.ts";
import type { createHttpClient, HttpClient } from "../io/http-client/client.ts";
import type { World } from "../io/world.ts";
import { Explainer } from "./explain.ts";
import type { Monitor } from "./monitor.ts";
import type { PollCounters } from "./polling/counters.ts";
import type { EndpointState, EndpointStates, PollUnderWay } from "./polling/endpoint-state.ts";
import { type Occasion, Poll, type PollResult, type PollTools } from "./polling/poll.ts";
import type { PollQueue } from "./polling/queue.ts";
import { unlistedChains } from "./polling/unlisted-chains.ts";

/** The parts of a poller that outlive a configuration. */
export interface PollerParts {
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "random" | "logger" | "onBug" | "build" | "proxy">;
  readonly openClient: typeof createHttpClient;
  readonly queue: PollQueue;
  readonly gate: BudgetGate;
  readonly states: EndpointStates;
  readonly counters: PollCounters;
  readonly monitor: Monitor;
  /** Whether a poll may be sent at this moment. */
  readonly mayPoll: () => boolean;
  /** Called after each poll. */
  readonly onPolled: (result: PollResult) => void;
  /** Called with each observation. */
  readonly onObserved: (observations: readonly Observation[]) => void;
}

/** Three polls in a row that agree settle every change of status. */
const MOST_CONFIRMATIONS = 2;
const LONGEST_CONFIRMATION_DELAY_MS = 60_000;

/**
 * Polls the endpoints of one configuration: each when its schedule says so, and sooner where a status is about to change. No
 * endpoint is polled twice at once, by this or by another poller. Disposing aborts the polls under way and waits for their end.
 */
export class Poller implements AsyncDisposable {
  readonly #parts: PollerParts;
  readonly #fleet: Fleet;
  readonly #client: HttpClient;
  readonly #explainer: Explainer;
  readonly #tools: PollTools;
  readonly #stopping = new AbortController();
  /** Endpoints with a poll of this poller in the queue or under way. */
  readonly #polled = new Set<EndpointState>();
  #cron: Disposable | null = null;
  #isStopped = false;

  constructor({ fleet, poll, secrets }: Config, parts: PollerParts) {
    const { counters, gate, monitor, queue, world } = parts;
    const stopping = this.#stopping.signal;
    // In an outage every poll under way waits for its retry, each with a listener: Node need not warn of a leak.
    setMaxListeners(Number.POSITIVE_INFINITY, stopping);
    this.#parts = parts;
    this.#fleet = fleet;
    this.#client = parts.openClient({
      ...poll,
      connectionsPerHost: poll.perHost,
      userAgent: `synclag/${world.build.version}`,
      nowMs: world.nowMs,
      proxy: world.proxy ?? null,
    });
    const { post } = this.#client;
    const redact = createRedact(secrets);
    this.#tools = { post, gate, counters, redact, retries: poll.retries, stopping, world };
    this.#explainer = new Explainer(this.#tools, monitor, queue);
  }

  /** Starts the schedules, and polls new endpoints at once. `onTick` is called each second. */
  start(onTick: () => void): void {
    const { states, world } = this.#parts;
    const all = states.all();
    this.#begin(
      all.filter(({ isPolled, poll }) => !isPolled && poll === null),
      "schedule",
    );
    this.#cron = startCron({
      expressions: all.map(({ endpoint }) => endpoint.schedule),
      onDue: (due) =>
        this.#begin(
          all.filter(({ endpoint }) => due.has(endpoint.schedule)),
          "schedule",
        ),
      onTick,
      onBug: world.onBug,
    });
  }

  /** Polls these endpoints at once, outside their schedule, if their budgets have something to spare. */
  pollNow(keys: readonly string[]): void {
    const { states } = this.#parts;
    this.#begin(
      keys.flatMap((key) => states.of(key) ?? []),
      "extra",
    );
  }

  /** Asks RPC nodes for blocks of contradicted sources, if the nodes' budgets have spare requests. */
  prove(suspicions: readonly Suspicion[]): void {
    const { monitor, queue, states, world } = this.#parts;
    for (const suspicion of suspicions) {
      const node = states.of(suspicion.node);
      if (node === undefined || this.#isStopped) {
        continue;
      }
      const asked = queue.add(node.endpoint.host, async () => {
        const found = this.#isStopped
          ? undefined
          : await new Poll(node, "extra", this.#tools).blockAt(suspicion.block);
        if (found !== undefined) {
          monitor.prove(suspicion, found);
        }
      });
      asked.catch(world.onBug);
    }
  }

  /** Polls every endpoint once, and asks for the reasons of targets that are not ok; settles at the end. */
  async check(): Promise<void> {
    this.#begin(this.#parts.states.all(), "check");
    await this.#ended();
    this.#parts.monitor.decide();
    await this.#explainer.settled();
  }

  /** How long the oldest poll under way has taken so far, without its wait in the queue. */
  longestMs(): number {
    const nowMs = this.#parts.world.monotonicMs();
    return [...this.#polled].reduce(
      (longest, { poll }) => Math.max(longest, nowMs - (poll?.startedMs ?? nowMs)),
      0,
    );
  }

  /** Starts no more polls, and settles when the running polls have ended: for a reload. */
  async retire(): Promise<void> {
    this.#stop();
    await this.#ended();
    this.#parts.monitor.decide();
    await this.#client[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#stop();
    const ended = this.#ended();
    await this.#client[Symbol.asyncDispose]();
    await ended;
    this.#parts.monitor.decide();
    await this.#explainer.settled();
  }

  #stop(): void {
    if (this.#isStopped) {
      return;
    }
    this.#isStopped = true;
    this.#cron?.[Symbol.dispose]();
    for (const { confirmation } of this.#parts.states.all()) {
      clearTimeout(confirmation);
    }
    for (const state of this.#polled) {
      if (state.poll?.startedMs === null) {
        this.#end(state);
      }
    }
  }

  async #ended(): Promise<void> {
    await Promise.all(Array.from(this.#polled, async ({ poll }) => await poll?.ended));
  }

  /**
   * Queues a poll of each endpoint without a running poll. In a scheduled round the others count as skipped rounds.
   */
  #begin(endpoints: readonly EndpointState[], occasion: Occasion): void {
    if (this.#isStopped) {
      return;
    }
    const skipped = new Map<string, IndexerId>();
    for (const state of inOrder(endpoints)) {
      if (state.poll === null) {
        this.#queue(state, occasion);
      } else if (occasion === "schedule") {
        skipped.set(indexerKey(state.endpoint), state.endpoint);
      }
    }
    for (const indexer of skipped.values()) {
      this.#parts.counters.countSkippedRound(indexer);
    }
  }

  #queue(state: EndpointState, occasion: Occasion): void {
    const { queue, world } = this.#parts;
    const poll: PollUnderWay = { startedMs: null, ended: Promise.resolve() };
    clearTimeout(state.confirmation);
    state.poll = poll;
    this.#polled.add(state);
    poll.ended = queue.add(state.endpoint.host, async () => {
      // While it waited, this poller was stopped.
      if (state.poll !== poll) {
        return;
      }
      poll.startedMs = world.monotonicMs();
      await this.#poll(state, occasion).catch(world.onBug);
      this.#end(state);
    });
  }

  #end(state: EndpointState): void {
    state.poll = null;
    this.#polled.delete(state);
  }

  async #poll(state: EndpointState, occasion: Occasion): Promise<void> {
    const { counters, mayPoll, monitor, onObserved, onPolled, states, world } = this.#parts;
    state.confirmations = occasion === "extra" ? state.confirmations + 1 : 0;
    if (!mayPoll()) {
      return;
    }
    const result = await new Poll(state, occasion, this.#tools).run();
    onPolled(result);
    // A reload may have changed or removed it meanwhile.
    if (!states.has(state)) {
      return;
    }
    states.noteSearch(state, result.search);
    const { observations } = result;
    if (observations.length === 0) {
      return;
    }
    state.isPolled = true;
    this.#warnOfChain(state, observations);
    this.#tellUnlisted(state);
    onObserved(observations);
    monitor.observe(observations, result.readings, ({ isChanging, isImplausible }) => {
      const { endpoint } = state;
      if (isImplausible) {
        counters.countFailure(endpoint, "implausible");
      }
      counters.countParity(endpoint, result.readings);
      // Not awaited: an index-node API that hangs must not delay the next poll.
      this.#explainer.onPolled(state, observations).catch(world.onBug);
      if (isChanging) {
        // A kept connection may lead to a server that the host name no longer resolves to.
        this.#client.renew(endpoint.url);
        this.#confirm(state);
      }
    });
  }

  /** Polls an endpoint with a changing target again before its schedule does: after a quarter of its interval, at most a minute. */
  #confirm(state: EndpointState): void {
    const { confirmations, endpoint } = state;
    clearTimeout(state.confirmation);
    if (confirmations < MOST_CONFIRMATIONS && !this.#isStopped) {
      const delayMs = Math.min(endpoint.pollIntervalMs / 4, LONGEST_CONFIRMATION_DELAY_MS);
      state.confirmation = setTimeout(() => this.#begin([state], "extra"), delayMs);
    }
  }

  /** A node of another chain is a mistake in the configuration, logged once. */
  #warnOfChain(state: EndpointState, [observation]: readonly Observation[]): void {
    const isWrong = observation?.kind === "failed" && observation.reason === "wrong_chain";
    const detail = isWrong ? observation.detail : null;
    if (detail !== null && detail !== state.wrongChain) {
      this.#parts.world.logger.warn({ endpoint: state.endpoint.key, detail }, "RPC node of another chain");
    }
    state.wrongChain = detail;
  }

  /** Logs the chains that an endpoint serves and chains.yaml does not list: once, and again when they change. */
  #tellUnlisted(state: EndpointState): void {
    const ids = unlistedChains(this.#fleet, [state]).flatMap((one) => one.chain_ids);
    const text = ids.join(", ");
    if (text !== state.toldUnlisted && text !== "") {
      const detail = `serves ${formatCount(ids.length, "chain")} that chains.yaml does not list for it: ${text}`;
      this.#parts.world.logger.info({ endpoint: state.endpoint.key, detail }, "Unlisted chains");
    }
    state.toldUnlisted = text;
  }
}

/**
 * The order in which to ask endpoints that are due at one instant: chain by chain, so that what is compared is
 * asked together; endpoints of several chains in the middle. Chains stand in the order of their first endpoint.
 */
function inOrder(states: readonly EndpointState[]): readonly EndpointState[] {
  const byChain = groupBy(states, ({ endpoint }) => endpoint.chain);
  const ofSeveral = byChain.get(null) ?? [];
  const chains = [...byChain.values()].filter((group) => group !== ofSeveral);
  const middle = Math.ceil(chains.length / 2);
  return [...chains.slice(0, middle).flat(), ...ofSeveral, ...chains.slice(middle).flat()];
}
