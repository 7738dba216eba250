import { hexAt } from "../model/random.ts";
import type { ServerKind } from "../servers/answer.ts";
import type { EndpointBehaviour } from "./simulated-endpoint.ts";
import type { TargetBehaviour } from "./simulated-target.ts";

/** One URL of a simulated fleet. Only `kind` is required. */
export interface EndpointSpec {
  readonly kind: ServerKind;
  /** `protocol/variant/tier/name`, or any name that is unique. Default: the kind. */
  readonly key?: string;
  /** Slugs of the chains that it serves. Default: the first chain of the fleet. */
  readonly chains?: readonly string[];
  /** Endpoints of one origin share a host and port. Default: the kind; Ponder, RPC nodes and index-nodes have one each. */
  readonly origin?: string;
  /** Default: a path that the real software would have. */
  readonly path?: string;
  /** Where this endpoint in good health differs from the default. */
  readonly behaviour?: Partial<EndpointBehaviour>;
  /** The same for its target on a chain. */
  readonly targetBehaviour?: (slug: string) => Partial<TargetBehaviour>;
}

/** The key that a simulated gateway accepts by default. */
export const SIMULATED_API_KEY = "5e1f0000c0ffee00decade0000facade";

export function keyOf(spec: EndpointSpec): string {
  return spec.key ?? spec.kind;
}

/** The key of an endpoint's target on one chain: `protocol/variant/tier/chain`; for an RPC node, its own key. */
export function targetKeyOf(spec: EndpointSpec, slug: string): string {
  const key = keyOf(spec);
  if (spec.kind === "rpc") {
    return key;
  }
  const indexer = key.includes("/") ? key.slice(0, key.lastIndexOf("/")) : key;
  return `${indexer}/${slug}`;
}

export function originOf(spec: EndpointSpec): string {
  const hasOwnOrigin = ["ponder", "rpc", "graph-status"].includes(spec.kind);
  return spec.origin ?? (hasOwnOrigin ? keyOf(spec) : spec.kind);
}

export function pathOf(spec: EndpointSpec): string {
  const key = keyOf(spec);
  return spec.path ?? usualPath(spec.kind, key);
}

/** The behaviour of an endpoint in good health. */
export function healthyBehaviour(spec: EndpointSpec): EndpointBehaviour {
  return {
    latency: { minMs: 0, maxMs: 0 },
    apiKeys: [SIMULATED_API_KEY],
    dailyLimit: spec.kind === "studio" ? 3_000 : null,
    retryAfter: null,
    unknownChains: 0,
    errorsBesideMeta: false,
    ...spec.behaviour,
  };
}

/** The headers that a caller must send. */
export function headersFor(spec: EndpointSpec): Readonly<Record<string, string>> {
  const apiKey = healthyBehaviour(spec).apiKeys[0];
  return spec.kind === "gateway" && apiKey !== undefined ? { Authorization: `Bearer ${apiKey}` } : {};
}

function usualPath(kind: ServerKind, key: string): string {
  switch (kind) {
    case "gateway":
      return `/api/subgraphs/id/${hexAt(key, 44)}`;
    case "studio":
      return `/query/112500/${slug(key)}/version/latest`;
    case "graph-node":
      return `/subgraphs/name/simulated/${slug(key)}`;
    case "envio":
    case "envio-3.2":
    case "envio-2.27":
      return `/${hexAt(key, 7)}/v1/graphql`;
    case "squid":
      return `/${slug(key)}/graphql`;
    case "subquery":
      return `/sq/simulated/${slug(key)}`;
    case "graph-status":
      return "/graphql";
    case "custom":
      return `/${slug(key)}/api`;
    case "ponder":
    case "rpc":
      return "/";
  }
}

function slug(key: string): string {
  return key.replace(/[^a-z0-9]+/g, "-");
}
