import { setMaxListeners } from "node:events";
import type { BudgetGate } from "../budgets/gate.ts";
import type { Config } from "../config/config.ts";
import type { Suspicion } from "../core/head/consensus.ts";
import { type Fleet, indexerKey, statusEndpointOf } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Observation } from "../core/model/observation.ts";
import { createRedact } from "../core/model/redact.ts";
import { formatCount } from "../core/model/text.ts";
import { startCron } from "../io/cron.ts";
import type { createHttpClient, HttpClient } from "../io/http-client/client.ts";
import type { World } from "../io/world.ts";
import { explain } from "./explain.ts";
import type { Consequences, Monitor } from "./monitor.ts";
import type { EndpointState, EndpointStates, PollUnderWay } from "./polling/endpoint-state.ts";
import { type Occasion, Poll, type PollTools } from "./polling/poll.ts";
import type { PollQueue } from "./polling/queue.ts";
import { unlistedChains } from "./polling/unlisted-chains.ts";
import { observationLine } from "./recording.ts";

/** The parts of a poller that outlive a configuration. */
export interface PollerParts {
  readonly world: Pick<
    World,
    "nowMs" | "monotonicMs" | "random" | "logger" | "onBug" | "build" | "proxy" | "recording"
  >;
  readonly openClient: typeof createHttpClient;
  readonly queue: PollQueue;
  readonly gate: BudgetGate;
  readonly states: EndpointStates;
  readonly monitor: Monitor;
  /** Whether a poll may be sent at this moment. */
  readonly mayPoll: () => boolean;
  readonly onPolled: () => void;
}

interface EndedPoll {
  readonly state: EndpointState;
  readonly observations: readonly Observation[];
}

/** With the scheduled poll, these are three polls in a row, which settle every change of status. */
const MOST_CONFIRMATIONS = 2;
const LONGEST_CONFIRMATION_DELAY_MS = 60_000;

/**
 * Polls the endpoints of one configuration: each when its schedule says so, and sooner if a status is about to change. No
 * endpoint is polled twice at once, by this or by another poller. Disposing aborts the polls under way and waits for their end.
 */
export class Poller implements AsyncDisposable {
  readonly #parts: PollerParts;
  readonly #fleet: Fleet;
  readonly #client: HttpClient;
  readonly #tools: PollTools;
  readonly #stopping = new AbortController();
  /** Endpoints with a poll of this poller in the queue or under way. */
  readonly #polled = new Set<EndpointState>();
  /** Polls whose consequences are not decided yet. */
  #ended: EndedPoll[] = [];
  /** Requests for explanations under way, by the key of their endpoint: one at a time for each. */
  readonly #explaining = new Map<string, Promise<void>>();
  #cron: Disposable | null = null;
  #isStopped = false;

  constructor({ fleet, poll, secrets }: Config, parts: PollerParts) {
    const { gate, world } = parts;
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
    const stopping = this.#stopping.signal;
    // In an outage every running poll adds a listener while it waits for its retry. Node would warn of a leak.
    setMaxListeners(Number.POSITIVE_INFINITY, stopping);
    this.#tools = { post, gate, redact: createRedact(secrets), retries: poll.retries, stopping, world };
  }

  /** Starts the schedules, and polls new endpoints at once. `onTick` is called each second. */
  start(onTick: () => void): void {
    const all = this.#parts.states.all();
    this.#beginPolls(
      all.filter(({ isPolled, poll }) => !isPolled && poll === null),
      "schedule",
    );
    this.#cron = startCron({
      expressions: all.map(({ endpoint }) => endpoint.schedule),
      onDue: (due) =>
        this.#beginPolls(
          all.filter(({ endpoint }) => due.has(endpoint.schedule)),
          "schedule",
        ),
      onTick,
      onBug: this.#parts.world.onBug,
    });
  }

  /**
   * Acts on a decision: polls again to confirm a status, asks for explanations and for blocks, and repeats the polls that
   * failed in an outage.
   */
  actOn({ changing, implausible, missed, suspicions }: Consequences): void {
    const ended = this.#ended;
    this.#ended = [];
    for (const { observations, state } of ended) {
      state.isPolled = true;
      if (observations.some(({ source }) => implausible.has(source))) {
        state.counters.add("failed: implausible");
      }
      this.#explain(state, observations);
      if (observations.some(({ source }) => changing.has(source))) {
        this.#confirm(state);
      }
    }
    this.#askNodes(suspicions);
    this.#beginPolls(
      missed.flatMap(({ key }) => this.#parts.states.of(key) ?? []),
      "extra",
    );
  }

  /** Polls every endpoint once; returns the observations. */
  async check(): Promise<readonly Observation[]> {
    this.#beginPolls(this.#parts.states.all(), "check");
    await this.#pollsEnded();
    return this.#ended.flatMap(({ observations }) => observations);
  }

  /** Settles when no request for an explanation is under way. */
  async explanationsEnded(): Promise<void> {
    await Promise.all(this.#explaining.values());
  }

  /** How long the oldest poll under way has taken so far, without its wait in the queue. */
  longestMs(): number {
    const nowMs = this.#parts.world.monotonicMs();
    return Math.max(0, ...Array.from(this.#polled, ({ poll }) => nowMs - (poll?.startedMs ?? nowMs)));
  }

  /** Starts no more polls, and settles when the running polls have ended: for a reload. */
  async retire(): Promise<void> {
    this.#stop();
    await this.#pollsEnded();
    await this.explanationsEnded();
    await this.#client[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#stop();
    const settled = Promise.all([this.#pollsEnded(), this.explanationsEnded()]);
    await this.#client[Symbol.asyncDispose]();
    await settled;
  }

  #stop(): void {
    this.#isStopped = true;
    this.#cron?.[Symbol.dispose]();
    for (const { confirmation } of this.#parts.states.all()) {
      clearTimeout(confirmation);
    }
    for (const state of this.#polled) {
      if (state.poll?.startedMs === null) {
        this.#endPoll(state);
      }
    }
  }

  async #pollsEnded(): Promise<void> {
    await Promise.all(Array.from(this.#polled, async ({ poll }) => await poll?.ended));
  }

  /** Asks RPC nodes for the blocks that other sources contradict. */
  #askNodes(suspicions: readonly Suspicion[]): void {
    const { monitor, queue, states, world } = this.#parts;
    for (const suspicion of this.#isStopped ? [] : suspicions) {
      const node = states.of(suspicion.node);
      const ask = async (): Promise<void> => {
        const poll = node && !this.#isStopped ? new Poll(node, "extra", this.#tools) : null;
        const found = await poll?.blockAt(suspicion.block);
        if (found !== undefined) {
          monitor.noteProof(suspicion, found);
        }
      };
      queue.add(node?.endpoint.host ?? "", ask).catch(world.onBug);
    }
  }

  /**
   * Queues a poll of each endpoint. An endpoint with a poll in the queue or under way is skipped; in a scheduled round, its
   * indexer counts one skipped round.
   */
  #beginPolls(endpoints: readonly EndpointState[], occasion: Occasion): void {
    if (this.#isStopped) {
      return;
    }
    const skipped = new Map<string, EndpointState>();
    for (const state of inOrder(endpoints)) {
      if (state.poll === null) {
        this.#queuePoll(state, occasion);
      } else if (occasion === "schedule") {
        skipped.set(indexerKey(state.endpoint), state);
      }
    }
    for (const { counters } of skipped.values()) {
      counters.add("skipped rounds");
    }
  }

  #queuePoll(state: EndpointState, occasion: Occasion): void {
    const { queue, world } = this.#parts;
    const poll: PollUnderWay = { startedMs: null, ended: Promise.resolve() };
    clearTimeout(state.confirmation);
    state.poll = poll;
    this.#polled.add(state);
    poll.ended = queue.add(state.endpoint.host, async () => {
      // This poller was stopped while the poll waited.
      if (state.poll !== poll) {
        return;
      }
      poll.startedMs = world.monotonicMs();
      await this.#poll(state, occasion).catch(world.onBug);
      this.#endPoll(state);
    });
  }

  #endPoll(state: EndpointState): void {
    state.poll = null;
    this.#polled.delete(state);
  }

  async #poll(state: EndpointState, occasion: Occasion): Promise<void> {
    const { mayPoll, monitor, onPolled, states, world } = this.#parts;
    state.confirmations = occasion === "extra" ? state.confirmations + 1 : 0;
    if (!mayPoll()) {
      return;
    }
    const { observations, readings } = await new Poll(state, occasion, this.#tools).run();
    onPolled();
    // A reload may have changed or removed the endpoint meanwhile.
    if (observations.length === 0 || !states.has(state)) {
      return;
    }
    this.#logMistake(state, observations);
    world.recording?.append(observations.map((one) => observationLine(one, this.#fleet)));
    monitor.observe(observations, readings);
    this.#ended.push({ state, observations });
  }

  /** Asks why a target is not `ok`. Not awaited: an index-node API that hangs must not delay the next poll. */
  #explain(state: EndpointState, observations: readonly Observation[]): void {
    const { monitor, queue, world } = this.#parts;
    const api = statusEndpointOf(state.endpoint);
    // If our own budget held the poll back, the reason is known.
    const wasSent = observations.some((one) => one.kind !== "failed" || one.reason !== "budget");
    if (
      !this.#isStopped &&
      api !== null &&
      wasSent &&
      !this.#explaining.has(api.key) &&
      monitor.hasTrouble(state.endpoint)
    ) {
      const asked = queue.add(api.host, () => explain(api, state, this.#tools, monitor));
      const ended = asked.catch(world.onBug).finally(() => this.#explaining.delete(api.key));
      this.#explaining.set(api.key, ended);
    }
  }

  /** Polls an endpoint with a changing target after a quarter of its interval, or after a minute if that is sooner. */
  #confirm(state: EndpointState): void {
    clearTimeout(state.confirmation);
    if (state.confirmations < MOST_CONFIRMATIONS && !this.#isStopped) {
      const delayMs = Math.min(state.endpoint.pollIntervalMs / 4, LONGEST_CONFIRMATION_DELAY_MS);
      state.confirmation = setTimeout(() => this.#beginPolls([state], "extra"), delayMs);
    }
  }

  /** Logs a mistake in chains.yaml that a reply shows: once, and again when it changes. */
  #logMistake(state: EndpointState, [observation]: readonly Observation[]): void {
    const { logger } = this.#parts.world;
    const former = state.mistake;
    const ids = unlistedChains(this.#fleet, [state]).flatMap((one) => one.chain_ids);
    if (observation?.kind === "failed" && observation.reason === "wrong_chain") {
      state.mistake = observation.detail;
    } else if (ids.length > 0) {
      state.mistake = `serves ${formatCount(ids.length, "chain")} that chains.yaml does not list for it: ${ids.join(", ")}`;
    } else {
      state.mistake = null;
    }
    if (state.mistake !== null && state.mistake !== former) {
      const fields = { endpoint: state.endpoint.key, detail: state.mistake };
      if (ids.length > 0) {
        logger.info(fields, "Unlisted chains");
      } else {
        logger.warn(fields, "RPC node of another chain");
      }
    }
  }
}

/**
 * The order of polls that are due at one instant: chain by chain, so that targets that are compared are polled together;
 * endpoints of several chains are in the middle. Chains are in the order of their first endpoint.
 */
function inOrder(states: readonly EndpointState[]): readonly EndpointState[] {
  const byChain = groupBy(states, ({ endpoint }) => endpoint.chain);
  const ofSeveral = byChain.get(null) ?? [];
  const chains = [...byChain.values()].filter((group) => group !== ofSeveral);
  const middle = Math.ceil(chains.length / 2);
  return [...chains.slice(0, middle).flat(), ...ofSeveral, ...chains.slice(middle).flat()];
}
