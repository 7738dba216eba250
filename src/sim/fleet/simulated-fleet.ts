import { type ChainSpec, createChain } from "../model/chain-model.ts";
import { usualChains } from "../model/usual-chains.ts";
import {
  type EndpointSpec,
  headersFor,
  healthyBehaviour,
  keyOf,
  originOf,
  pathOf,
  targetKeyOf,
} from "./endpoint-spec.ts";
import { Origin } from "./origin.ts";
import { SimulatedChain } from "./simulated-chain.ts";
import { SimulatedEndpoint } from "./simulated-endpoint.ts";
import { SimulatedTarget } from "./simulated-target.ts";

export interface FleetOptions {
  readonly nowMs: () => number;
  readonly endpoints: readonly EndpointSpec[];
  /** Default: Base, Ethereum and Arbitrum One, each a few years old now. */
  readonly chains?: readonly ChainSpec[];
  /** Seed of everything random. */
  readonly seed?: string;
}

/**
 * Starts HTTP servers on loopback that answer as the real software would. Disposing closes every connection and stops
 * every timer.
 *
 * @throws {RangeError} If an endpoint names a chain that the fleet does not have.
 */
export async function startFleet(options: FleetOptions): Promise<SimulatedFleet> {
  const chains = createChains(options);
  // All errors first: an error after this would leave servers running.
  const specs = options.endpoints.map((spec) => ({ spec, served: chainsOf(spec, chains) }));
  const origins = new Map<string, Origin>();
  const endpoints: SimulatedEndpoint[] = [];
  for (const { spec, served } of specs) {
    const origin = await originFor(spec, origins);
    const url = `http://${origin.host}${pathOf(spec)}`;
    const endpoint = createEndpoint(spec, { url, chains: served, options });
    origin.add(pathOf(spec), endpoint);
    endpoints.push(endpoint);
  }
  return new SimulatedFleet({ chains, endpoints, origins: [...origins.values()] });
}

/**
 * The same fleet without servers: the caller passes each request to its endpoint. `urlOf`: the URL of an endpoint.
 *
 * @throws {RangeError} If an endpoint names a chain that the fleet does not have.
 */
export function createFleet(options: FleetOptions, urlOf: (spec: EndpointSpec) => string): SimulatedFleet {
  const chains = createChains(options);
  const endpoints = options.endpoints.map((spec) =>
    createEndpoint(spec, { url: urlOf(spec), chains: chainsOf(spec, chains), options }),
  );
  return new SimulatedFleet({ chains, endpoints, origins: [] });
}

/** A running fleet. A lookup of one thing throws a RangeError if the fleet does not have it. */
export class SimulatedFleet implements AsyncDisposable {
  readonly chains: readonly SimulatedChain[];
  readonly origins: readonly Origin[];
  readonly #endpoints: readonly SimulatedEndpoint[];

  constructor(parts: {
    readonly chains: readonly SimulatedChain[];
    readonly endpoints: readonly SimulatedEndpoint[];
    readonly origins: readonly Origin[];
  }) {
    this.chains = parts.chains;
    this.origins = parts.origins;
    this.#endpoints = parts.endpoints;
  }

  chain(slug: string): SimulatedChain {
    return only(
      this.chains.filter((chain) => chain.slug === slug),
      `chain ${slug}`,
    );
  }

  endpoint(key: string): SimulatedEndpoint {
    return only(this.endpoints(key), `endpoint ${key}`);
  }

  /** Every endpoint whose key matches: a `*` in the pattern stands for one whole part. */
  endpoints(pattern: string): readonly SimulatedEndpoint[] {
    return this.#endpoints.filter((endpoint) => fits(pattern, endpoint.key));
  }

  target(key: string): SimulatedTarget {
    return only(this.targets(key), `target ${key}`);
  }

  /** Every target whose key matches: a `*` in the pattern stands for one whole part. */
  targets(pattern: string): readonly SimulatedTarget[] {
    return this.#endpoints
      .flatMap((endpoint) => endpoint.targets)
      .filter((target) => fits(pattern, target.key));
  }

  origin(name: string): Origin {
    return only(
      this.origins.filter((origin) => origin.name === name),
      `origin ${name}`,
    );
  }

  /** Makes everything healthy again; the history of the chains stays. */
  async heal(): Promise<void> {
    for (const chain of this.chains) {
      chain.heal();
    }
    for (const endpoint of this.#endpoints) {
      endpoint.heal();
    }
    await Promise.all(this.origins.map((origin) => origin.open()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.origins.map((origin) => origin[Symbol.asyncDispose]()));
  }
}

function createChains({ chains, nowMs }: FleetOptions): readonly SimulatedChain[] {
  return (chains ?? usualChains(nowMs())).map(
    (spec) => new SimulatedChain(createChain(spec), { nominalBlockTimeMs: spec.blockTimeMs, nowMs }),
  );
}

/** A host serves each path once: a second endpoint of the same URL gets a host of its own. */
async function originFor(spec: EndpointSpec, origins: Map<string, Origin>): Promise<Origin> {
  const shared = origins.get(originOf(spec));
  if (shared?.isFree(pathOf(spec)) === true) {
    return shared;
  }
  const name = shared === undefined ? originOf(spec) : `${originOf(spec)} for ${keyOf(spec)}`;
  const origin = new Origin(name);
  await origin.open();
  origins.set(name, origin);
  return origin;
}

function chainsOf(spec: EndpointSpec, chains: readonly SimulatedChain[]): readonly SimulatedChain[] {
  const slugs = spec.chains ?? chains.slice(0, 1).map(({ slug }) => slug);
  return slugs.map((slug) =>
    only(
      chains.filter((chain) => chain.slug === slug),
      `chain ${slug}`,
    ),
  );
}

function createEndpoint(
  spec: EndpointSpec,
  at: {
    readonly url: string;
    readonly chains: readonly SimulatedChain[];
    readonly options: FleetOptions;
  },
): SimulatedEndpoint {
  const shared = { seed: at.options.seed ?? "synclag", nowMs: at.options.nowMs };
  const targets = at.chains.map(
    (chain) =>
      new SimulatedTarget({
        ...shared,
        key: targetKeyOf(spec, chain.slug),
        chain,
        behaviour: spec.targetBehaviour?.(chain.slug) ?? {},
      }),
  );
  return new SimulatedEndpoint({
    ...shared,
    key: keyOf(spec),
    kind: spec.kind,
    url: at.url,
    headers: headersFor(spec),
    targets,
    behaviour: healthyBehaviour(spec),
  });
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
