import { createRandom } from "../model/random.ts";
import { type Answer, type Call, json, type ServedRow, type ServerKind } from "../servers/answer.ts";
import { answerAs } from "../servers/answer-as.ts";
import type { Fault, FaultFrequency } from "../servers/faults.ts";
import { FAULTS, type FaultName } from "./fault-list.ts";
import type { SimulatedTarget } from "./simulated-target.ts";

/** How an endpoint handles requests. */
export interface EndpointBehaviour {
  /** Each request takes a time between the two, evenly distributed; the height is read at a random instant of it. */
  readonly latency: { readonly minMs: number; readonly maxMs: number };
  /** The keys that a gateway accepts. */
  readonly apiKeys: readonly string[];
  /** Requests a UTC day, then 429; null: no limit. */
  readonly dailyLimit: number | null;
  /** The `Retry-After` of that 429, or null for none. */
  readonly retryAfter: string | null;
  /** Number of rows of chains that are not configured. */
  readonly unknownChains: number;
  /** graph-node before 0.44. */
  readonly errorsBesideMeta: boolean;
}

/** A received request that waits for its answer. */
export interface PendingRequest {
  readonly call: Call;
  readonly receivedAtMs: number;
  /** The time until the heights are read, and from then until the answer is sent. */
  readonly beforeMs: number;
  readonly afterMs: number;
  /** Whether it exceeds the daily limit. */
  readonly throttled: boolean;
}

/** An answered request. */
export interface AnsweredRequest extends PendingRequest {
  /** The instant at which the heights were read. */
  readonly readAtMs: number;
}

const DAY_MS = 86_400_000;
const FIRST_UNKNOWN_ID = 9_000_000_000;

/** One URL of the fleet. */
export class SimulatedEndpoint {
  readonly key: string;
  readonly kind: ServerKind;
  readonly url: string;
  /** What a caller must send, e.g. a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly targets: readonly SimulatedTarget[];
  readonly #random: () => number;
  readonly #nowMs: () => number;
  readonly #healthy: EndpointBehaviour;
  #behaviour: EndpointBehaviour;
  #fault: { readonly fault: Fault; readonly timesLeft: number; readonly share: number } | null = null;
  #requestCount = 0;
  #today = { day: 0, count: 0 };
  #lastRequest: AnsweredRequest | null = null;

  constructor(options: {
    readonly key: string;
    readonly kind: ServerKind;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly targets: readonly SimulatedTarget[];
    readonly seed: string;
    readonly nowMs: () => number;
    readonly behaviour: EndpointBehaviour;
  }) {
    this.key = options.key;
    this.kind = options.kind;
    this.url = options.url;
    this.headers = options.headers;
    this.targets = options.targets;
    this.#random = createRandom(`${options.seed}/${options.key}`);
    this.#nowMs = options.nowMs;
    this.#healthy = options.behaviour;
    this.#behaviour = options.behaviour;
  }

  /** Number of requests so far, failed or not. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** The last answered request. */
  get lastRequest(): AnsweredRequest | null {
    return this.#lastRequest;
  }

  get behaviour(): EndpointBehaviour {
    return this.#behaviour;
  }

  set(behaviour: Partial<EndpointBehaviour>): void {
    this.#behaviour = { ...this.#behaviour, ...behaviour };
  }

  /** Fails from the next request on, with a named fault or another one. */
  fail(fault: FaultName | Fault, frequency: FaultFrequency = {}): void {
    this.#fault = {
      fault: typeof fault === "string" ? FAULTS[fault].fault : fault,
      timesLeft: frequency.times ?? Number.POSITIVE_INFINITY,
      share: frequency.share ?? 1,
    };
  }

  /** Ends the fault, and resets the endpoint and its targets to their state at the start. */
  heal(): void {
    this.#fault = null;
    this.#behaviour = this.#healthy;
    for (const target of this.targets) {
      target.heal();
    }
  }

  /** Registers a request, and decides how long it will take. */
  receive(call: Call): PendingRequest {
    const receivedAtMs = this.#nowMs();
    const day = Math.floor(receivedAtMs / DAY_MS);
    this.#requestCount += 1;
    this.#today = { day, count: this.#today.day === day ? this.#today.count + 1 : 1 };

    const { latency, dailyLimit } = this.#behaviour;
    const latencyMs = latency.minMs + this.#random() * (latency.maxMs - latency.minMs);
    const beforeMs = this.#random() * latencyMs;
    const throttled = dailyLimit !== null && this.#today.count > dailyLimit;
    return { call, receivedAtMs, beforeMs, afterMs: latencyMs - beforeMs, throttled };
  }

  /** Reads the heights now, and answers. */
  answer(request: PendingRequest): Answer {
    const readAtMs = this.#nowMs();
    this.#lastRequest = { ...request, readAtMs };
    return request.throttled
      ? this.#answerThrottled()
      : answerAs({ kind: this.kind, ...this.#behaviour }, request.call, this.#rowsAt(readAtMs));
  }

  /** The fault of this request, or null. */
  takeFault(): Fault | null {
    const current = this.#fault;
    if (current === null || current.timesLeft < 1 || this.#random() >= current.share) {
      return null;
    }
    this.#fault = { ...current, timesLeft: current.timesLeft - 1 };
    return current.fault;
  }

  #answerThrottled(): Answer {
    const { retryAfter } = this.#behaviour;
    const answer = json({ message: "Too many requests, please try again later" }, 429);
    const headers = retryAfter === null ? {} : { "retry-after": retryAfter };
    return { ...answer, headers: { ...answer.headers, ...headers } };
  }

  #rowsAt(readAtMs: number): readonly ServedRow[] {
    const rows = this.targets.flatMap((target) =>
      Array.from({ length: target.behaviour.rows }, () => target.rowAt(readAtMs)),
    );
    const model = rows[0];
    if (model === undefined) {
      return rows;
    }
    const unknownChains = Array.from({ length: this.#behaviour.unknownChains }, (_, index) => ({
      ...model,
      chain: { ...model.chain, slug: `unknown-${index}` },
      chainId: FIRST_UNKNOWN_ID + index,
    }));
    return [...rows, ...unknownChains];
  }
}
