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

/** Why the gateway will refuse a key. */
export interface KeyProblem {
  /** The header that holds the key, or null where the URL does. */
  readonly header: string | null;
  readonly message: string;
}

/** Says before the first poll that The Graph's gateway will refuse a key; null if it may not, or for another host. */
export function gatewayKeyProblem(url: URL, headers: Headers): KeyProblem | null {
  if (!GATEWAY_HOSTS.has(url.host)) {
    return null;
  }
  const inPath = KEY_IN_PATH.exec(url.pathname)?.[1];
  if (inPath !== undefined && !KEY.test(inPath)) {
    return { header: null, message: refusal(inPath) };
  }
  const header = findHeader(headers, "authorization");
  if (header === null) {
    return null;
  }
  const token = BEARER.exec(header.value)?.[1];
  if (token === undefined) {
    return {
      header: header.name,
      message: 'Cannot use this with The Graph\'s gateway: expected "Bearer KEY"',
    };
  }
  return KEY.test(token) ? null : { header: header.name, message: refusal(token) };
}

function refusal(key: string): string {
  const strange = key.replace(/[0-9a-f]/gi, "").length;
  const found = strange === 0 ? `${key.length}` : `${key.length}, ${strange} of them not hexadecimal`;
  return `Cannot use this key with The Graph's gateway: expected 32 hexadecimal characters, found ${found}`;
}
