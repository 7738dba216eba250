import { findHeader, type Headers } from "./headers.ts";

/** The Graph's gateways; their keys are exactly 32 hex characters (graphprotocol/gateway: src/auth.rs). */
const GATEWAY_HOSTS = new Set([
  "gateway.thegraph.com",
  "testnet.gateway.thegraph.com",
  "gateway-arbitrum.network.thegraph.com",
]);
const KEY = /^[0-9a-f]{32}$/i;
const KEY_IN_PATH = /^\/api\/([^/]+)\/(?:subgraphs|deployments)\//;
const BEARER = /^Bearer +(.*)$/i;

/** Whether The Graph's gateway can accept the key of a request, and if not, where that key is. */
export type GatewayKeyCheck =
  | { readonly kind: "acceptable" }
  | { readonly kind: "bad url"; readonly message: string }
  | { readonly kind: "bad header"; readonly header: string; readonly message: string };

const ACCEPTABLE: GatewayKeyCheck = { kind: "acceptable" };

/** Finds keys that The Graph's gateway would refuse, before the first poll. Other hosts accept whatever they like. */
export function checkGatewayKey(url: URL, headers: Headers): GatewayKeyCheck {
  if (!GATEWAY_HOSTS.has(url.host)) {
    return ACCEPTABLE;
  }
  const inPath = KEY_IN_PATH.exec(url.pathname)?.[1];
  if (inPath !== undefined && !KEY.test(inPath)) {
    return { kind: "bad url", message: badKey(inPath) };
  }
  const header = findHeader(headers, "authorization");
  if (header === null) {
    return ACCEPTABLE;
  }
  const token = BEARER.exec(header.value)?.[1];
  if (token === undefined) {
    const message = 'Cannot use this with The Graph\'s gateway: expected "Bearer KEY"';
    return { kind: "bad header", header: header.name, message };
  }
  return KEY.test(token) ? ACCEPTABLE : { kind: "bad header", header: header.name, message: badKey(token) };
}

function badKey(key: string): string {
  const others = key.replace(/[0-9a-f]/gi, "").length;
  const found = others === 0 ? `${key.length}` : `${key.length}, ${others} of them not hexadecimal`;
  return `Cannot use this key with The Graph's gateway: expected 32 hexadecimal characters, found ${found}`;
}
