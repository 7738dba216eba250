import { type Headers, headerOf } from "./resolve-headers.ts";

/** The Graph's gateways; their keys are exactly 32 hex characters (graphprotocol/gateway: src/auth.rs). */
const GATEWAY_HOSTS = new Set([
  "gateway.thegraph.com",
  "testnet.gateway.thegraph.com",
  "gateway-arbitrum.network.thegraph.com",
]);
const KEY = /^[0-9a-f]{32}$/i;
const KEY_IN_PATH = /^\/api\/([^/]+)\/(?:subgraphs|deployments)\//;

/** Why the gateway will refuse a request for its key, and whether the URL or the header holds it; null if it will not. */
export function gatewayKeyProblem(
  url: URL,
  headers: Headers,
): { readonly place: "url" | "headers"; readonly message: string } | null {
  if (!GATEWAY_HOSTS.has(url.host)) {
    return null;
  }
  const inPath = KEY_IN_PATH.exec(url.pathname)?.[1];
  if (inPath !== undefined && !KEY.test(inPath)) {
    return { place: "url", message: message(inPath) };
  }
  const authorization = headerOf(headers, "authorization");
  if (authorization === undefined) {
    return null;
  }
  const token = /^Bearer +(.*)$/i.exec(authorization)?.[1];
  if (token === undefined) {
    return {
      place: "headers",
      message: `Cannot use this as ${url.host}'s authorization: expected "Bearer KEY"`,
    };
  }
  return KEY.test(token) ? null : { place: "headers", message: message(token) };
}

function message(key: string): string {
  const strange = key.replace(/[0-9a-f]/gi, "").length;
  const found = strange === 0 ? `${key.length}` : `${key.length}, ${strange} of them not hexadecimal`;
  return `Cannot use this key for The Graph's gateway: expected 32 hexadecimal characters, found ${found}`;
}
