import {
  type EndpointSpec,
  type FleetOptions,
  type SimulatedFleet,
  startFleet as startExactly,
} from "../../src/sim/fleet/simulated-fleet.ts";
import { type ChainSpec, chainOfAge } from "../../src/sim/model/chain-model.ts";
import { hexAt } from "../../src/sim/model/random.ts";
import { type ServerKind, SIMULATED_API_KEY } from "../../src/sim/servers/families.ts";

/** An endpoint of a fleet of a test: only `kind` is required. */
export type TestEndpoint = Pick<EndpointSpec, "kind"> & Partial<EndpointSpec>;

/** Starts a fleet whose endpoints serve its first chain, at paths that the real software would have. */
export function startFleet({
  nowMs,
  endpoints,
  chains = usualChains(nowMs()),
}: Pick<FleetOptions, "nowMs"> & {
  readonly endpoints: readonly TestEndpoint[];
  readonly chains?: readonly ChainSpec[];
}): Promise<SimulatedFleet> {
  const slugs = chains.slice(0, 1).map(({ slug }) => slug);
  return startExactly({
    nowMs,
    chains,
    endpoints: endpoints.map((spec) => ({ ...withPlace(spec), chains: spec.chains ?? slugs })),
  });
}

/** Base (2 s), Ethereum (12 s) and Arbitrum One (0.25 s), each a few years old. */
function usualChains(nowMs: number): readonly ChainSpec[] {
  return [
    chainOfAge({ slug: "base", id: 8453, blockTimeMs: 2_000 }, nowMs),
    chainOfAge({ slug: "ethereum", id: 1, blockTimeMs: 12_000 }, nowMs),
    chainOfAge({ slug: "arbitrum", id: 42161, blockTimeMs: 250 }, nowMs),
  ];
}

/** The headers that a caller must send. */
export function headersFor(kind: ServerKind): Readonly<Record<string, string>> {
  return kind === "gateway" ? { Authorization: `Bearer ${SIMULATED_API_KEY}` } : {};
}

function withPlace(spec: TestEndpoint): Omit<EndpointSpec, "chains"> {
  const { kind, key = kind } = spec;
  const hasOwnOrigin = ["ponder", "rpc", "graph-status"].includes(kind);
  return {
    ...spec,
    key,
    origin: spec.origin ?? (hasOwnOrigin ? key : kind),
    path: spec.path ?? usualPath(kind, key),
  };
}

function usualPath(kind: ServerKind, key: string): string {
  const slug = key.replace(/[^a-z0-9]+/g, "-");
  switch (kind) {
    case "gateway":
      return `/api/subgraphs/id/${hexAt(key, 44)}`;
    case "studio":
      return `/query/112500/${slug}/version/latest`;
    case "graph-node":
      return `/subgraphs/name/simulated/${slug}`;
    case "envio":
    case "envio-3.2":
    case "envio-2.27":
      return `/${hexAt(key, 7)}/v1/graphql`;
    case "squid":
      return `/${slug}/graphql`;
    case "subquery":
      return `/sq/simulated/${slug}`;
    case "graph-status":
      return "/graphql";
    case "custom":
      return `/${slug}/api`;
    case "ponder-status":
      return "/status";
    case "envio-metrics":
    case "erpc":
      return `/${slug}/metrics`;
    case "ponder":
    case "rpc":
      return "/";
  }
}
