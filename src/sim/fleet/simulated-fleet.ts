import {
  type ChainModel,
  type ChainSpec,
  createChain,
  headAt,
  paceAt,
  withPace,
} from "../model/chain-model.ts";
import { createRandom } from "../model/random.ts";
import type { Answer, Call, Fault } from "../servers/answer.ts";
import { answerAs, type ServerKind } from "../servers/families.ts";
import { Origin } from "./origin.ts";
import { SimulatedTarget, type TargetBehaviour } from "./simulated-target.ts";

/** One URL of a simulated fleet. */
export interface EndpointSpec {
  readonly kind: ServerKind;
  /** `protocol/variant/tier/name`, or any name that is unique. */
  readonly key: string;
  /** Slugs of the chains that it serves. */
  readonly chains: readonly string[];
  /** Endpoints of one origin share a host and port. */
  readonly origin: string;
  readonly path: string;
  /** How long requests take while the endpoint is healthy. Default: no time. */
  readonly latency?: Latency;
  /** How the target on a chain differs from the default while it is healthy. */
  readonly targetBehaviour?: (slug: string) => Partial<TargetBehaviour>;
}

/** Each request takes a random time from `minMs` to `maxMs`. The height is read at a random instant of that time. */
export interface Latency {
  readonly minMs: number;
  readonly maxMs: number;
}

const NO_LATENCY: Latency = { minMs: 0, maxMs: 0 };

export interface FleetOptions {
  readonly nowMs: () => number;
  readonly chains: readonly ChainSpec[];
  readonly endpoints: readonly EndpointSpec[];
}

/**
 * Starts HTTP servers on loopback that answer as the real software would. Disposing closes every connection.
 *
 * @throws {RangeError} If an endpoint names a chain that the fleet does not have.
 */
export async function startFleet(options: FleetOptions): Promise<SimulatedFleet> {
  const fleet = new SimulatedFleet(options);
  for (const endpoint of fleet.allEndpoints) {
    const { origin: name, path, key } = endpoint.spec;
    const namesakes = fleet.origins.filter((origin) => origin.name === name);
    // A host serves each path once, so a second endpoint with the same URL gets a host of its own.
    let origin = namesakes.find(({ routes }) => !routes.has(path));
    if (origin === undefined) {
      origin = new Origin(namesakes.length === 0 ? name : `${name} for ${key}`);
      await origin.open();
      fleet.origins.push(origin);
    }
    origin.routes.set(path, endpoint);
    endpoint.url = `http://${origin.host}${path}`;
  }
  return fleet;
}

/**
 * A fleet of indexers. Without `startFleet` it has no servers: the caller passes each request to its endpoint. `chain`, `endpoint`
 * and `target` throw a RangeError unless exactly one fits. In a pattern, a `*` matches one whole part of a key.
 */
export class SimulatedFleet implements AsyncDisposable {
  readonly chains: readonly SimulatedChain[];
  readonly allEndpoints: readonly SimulatedEndpoint[];
  readonly origins: Origin[] = [];
  /** Whether every host refuses connections. */
  isClosed = false;

  constructor({ nowMs, chains, endpoints }: FleetOptions) {
    this.chains = chains.map((spec) => new SimulatedChain(spec, nowMs));
    this.allEndpoints = endpoints.map((spec) => {
      const served = spec.chains.map((slug) => this.chain(slug));
      return new SimulatedEndpoint(spec, served, nowMs);
    });
  }

  chain(wanted: string): SimulatedChain {
    const found = this.chains.filter(({ model }) => model.slug === wanted);
    return only(found, `chain ${wanted}`);
  }

  endpoint(key: string): SimulatedEndpoint {
    return only(this.endpoints(key), `endpoint ${key}`);
  }

  endpoints(pattern: string): readonly SimulatedEndpoint[] {
    return this.allEndpoints.filter(({ key }) => fits(pattern, key));
  }

  target(key: string): SimulatedTarget {
    return only(this.targets(key), `target ${key}`);
  }

  targets(pattern: string): readonly SimulatedTarget[] {
    return this.allEndpoints.flatMap(({ targets }) => targets).filter(({ key }) => fits(pattern, key));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.origins.map((origin) => origin.close()));
  }

  /** Makes everything healthy again; the history of the chains stays. */
  async heal(): Promise<void> {
    this.isClosed = false;
    for (const part of [...this.chains, ...this.allEndpoints]) {
      part.heal();
    }
    await Promise.all(this.origins.map((origin) => origin.open()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A chain of a fleet. Its pace can be changed while the fleet runs. */
export class SimulatedChain {
  /** The chain as plain data, which every change of pace replaces. */
  model: ChainModel;
  readonly #blockTimeMs: number;
  readonly #nowMs: () => number;

  constructor(spec: ChainSpec, nowMs: () => number) {
    this.model = createChain(spec);
    this.#blockTimeMs = spec.blockTimeMs;
    this.#nowMs = nowMs;
  }

  /** The true head, now. */
  head(): number {
    return headAt(this.model, this.#nowMs());
  }

  /** Stops producing blocks. */
  halt(): void {
    this.model = withPace(this.model, { atMs: this.#nowMs(), blockTimeMs: null });
  }

  /** Produces blocks again, at the usual pace. */
  resume(): void {
    this.model = withPace(this.model, { atMs: this.#nowMs(), blockTimeMs: this.#blockTimeMs });
  }

  heal(): void {
    if (paceAt(this.model, this.#nowMs()) !== this.#blockTimeMs) {
      this.resume();
    }
  }
}

/** A received request that waits for its reply. */
export interface PendingRequest {
  readonly call: Call;
  /** The fault of the endpoint when the request came. */
  readonly fault: Fault | null;
  /** The time until the heights are read, and from then until the reply is sent. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** One URL of the fleet. */
export class SimulatedEndpoint {
  readonly spec: EndpointSpec;
  readonly key: string;
  readonly targets: readonly SimulatedTarget[];
  /** The URL of its server; empty without a server. */
  url = "";
  /** The number of requests received, including failed ones. */
  requestCount = 0;
  /** A change applies from the next request on. */
  latency: Latency;
  readonly #random: () => number;
  readonly #nowMs: () => number;
  #fault: Fault | null = null;

  constructor(spec: EndpointSpec, chains: readonly SimulatedChain[], nowMs: () => number) {
    this.spec = spec;
    this.key = spec.key;
    this.targets = chains.map((chain) => {
      const { slug } = chain.model;
      return new SimulatedTarget(targetKeyOf(spec, slug), chain, nowMs, spec.targetBehaviour?.(slug) ?? {});
    });
    this.#random = createRandom(`synclag/${spec.key}`);
    this.#nowMs = nowMs;
    this.latency = spec.latency ?? NO_LATENCY;
  }

  /** Fails from the next request on. */
  fail(fault: Fault): void {
    this.#fault = fault;
  }

  /** Ends the fault, and resets the endpoint and its targets to their state at the start. */
  heal(): void {
    this.#fault = null;
    this.latency = this.spec.latency ?? NO_LATENCY;
    for (const target of this.targets) {
      target.heal();
    }
  }

  /** Registers a request, and decides how long it will take. */
  receive(call: Call): PendingRequest {
    this.requestCount += 1;
    const { minMs, maxMs } = this.latency;
    const latencyMs = minMs + this.#random() * (maxMs - minMs);
    const beforeMs = this.#random() * latencyMs;
    return { call, beforeMs, afterMs: latencyMs - beforeMs, fault: this.#fault };
  }

  /** Reads the heights now, and answers. */
  answer({ call, fault }: PendingRequest): Answer {
    const rows = this.targets.flatMap((target) => target.rowsAt(this.#nowMs()));
    const truth = answerAs(this.spec.kind, call, rows);
    return { ...truth, ...(typeof fault === "function" ? fault(truth) : fault) };
  }
}

/** `protocol/variant/tier/chain`; for an RPC node, the key of its endpoint. */
function targetKeyOf({ kind, key }: EndpointSpec, slug: string): string {
  if (kind === "rpc" || kind === "erpc") {
    return key;
  }
  const indexer = key.includes("/") ? key.slice(0, key.lastIndexOf("/")) : key;
  return `${indexer}/${slug}`;
}

function fits(pattern: string, key: string): boolean {
  const wanted = pattern.split("/");
  const parts = key.split("/");
  return (
    wanted.length === parts.length && wanted.every((part, index) => part === "*" || part === parts[index])
  );
}

function only<Item>(found: readonly Item[], name: string): Item {
  const [item] = found;
  if (item === undefined || found.length > 1) {
    throw new RangeError(`Cannot find ${name}: the fleet has ${found.length} of it`);
  }
  return item;
}
