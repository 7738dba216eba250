import type { FailureReason } from "../core/observation.ts";

interface FailureContext {
  readonly shutdown: AbortSignal;
  readonly deadline: AbortSignal;
  readonly timeoutMs: number;
}

/** Names what went wrong below HTTP: error codes of Node's network, TLS and of undici. */
export function failureOf(
  error: unknown,
  { shutdown, deadline, timeoutMs }: FailureContext,
): { readonly reason: FailureReason; readonly detail: string } {
  if (shutdown.aborted) {
    return { reason: "aborted", detail: "cut off by shutdown or reload" };
  }
  if (deadline.aborted) {
    return { reason: "timeout", detail: `no complete answer within ${timeoutMs / 1000} s` };
  }
  const code = codeOf(error);
  if (code === null) {
    // Not a failure of the network: ours, and not to be told as the indexer's.
    throw error;
  }
  return { reason: reasonOf(code), detail: DETAILS[code] ?? `connection failed (${code})` };
}

/** A name that resolves to several addresses fails with an AggregateError: one code stands for all. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) {
    return null;
  }
  if ("code" in error && typeof error.code === "string") {
    return error.code;
  }
  if (error instanceof AggregateError && error.errors.length > 0) {
    return codeOf(error.errors[0]);
  }
  return codeOf(error.cause);
}

const DETAILS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "the name server does not answer",
  ECONNREFUSED: "the host refuses the connection",
  ECONNRESET: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "the network is unreachable",
  CERT_HAS_EXPIRED: "the TLS certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the TLS certificate is self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "the TLS certificate is for another host",
};

const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO$|HOSTNAME_MISMATCH)/;
const DNS_CODE = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/;
/** `HPE_`: what came is no HTTP. */
const MALFORMED_CODE = /^(HPE_|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_RESPONSE)/;

function reasonOf(code: string): FailureReason {
  if (code === "UND_ERR_CONNECT_TIMEOUT") {
    return "timeout";
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW" || code === "HPE_HEADER_OVERFLOW") {
    return "too_large";
  }
  if (TLS_CODE.test(code)) {
    return "tls";
  }
  if (DNS_CODE.test(code)) {
    return "dns";
  }
  return MALFORMED_CODE.test(code) ? "malformed" : "connect";
}
