import errors from "undici/lib/core/errors.js";
import type { FailureReason } from "../../core/model/observation.ts";

/** What ended a request before the other side did. */
export type CutOff = "deadline" | "shutdown";

interface HttpFailure {
  readonly reason: FailureReason;
  readonly detail: string;
}

/**
 * Names what went wrong below HTTP: error codes of Node's network, TLS and of undici.
 *
 * @throws The error itself where it is no failure of the network: that is a bug of ours, not the indexer's.
 */
export function failureOf(error: unknown, cutOff: CutOff | null, timeoutMs: number): HttpFailure {
  if (cutOff === "shutdown") {
    return { reason: "aborted", detail: "cut off by shutdown or reload" };
  }
  if (cutOff === "deadline") {
    return { reason: "timeout", detail: `no complete answer within ${timeoutMs / 1000} s` };
  }
  if (error instanceof errors.HTTPParserError) {
    // It may come without a code.
    return { reason: "malformed", detail: "answered with what is no HTTP" };
  }
  const code = codeOf(error);
  if (code === null || OUR_CODE.test(code)) {
    throw error;
  }
  return { reason: reasonOf(code), detail: connectionDetail(code) };
}

/** What an error code of Node's network or TLS means, in words without a host or address. */
export function connectionDetail(code: string): string {
  return DETAILS[code] ?? `connection failed (${code})`;
}

/** An error's code, or null; a name that resolves to several addresses fails with an AggregateError: one code stands for all. */
export function codeOf(error: unknown): string | null {
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
  ETIMEDOUT: "the host does not answer",
  UND_ERR_CONNECT_TIMEOUT: "the host does not answer",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  UND_ERR_ABORTED: "the proxy refuses the connection",
  UND_ERR_HEADERS_OVERFLOW: "answered with more headers than can be read",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "the network is unreachable",
  EMFILE: "no file descriptor is left for a connection",
  CERT_HAS_EXPIRED: "the TLS certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the TLS certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the TLS certificate comes from an authority that is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the TLS certificate comes from an authority that is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "the TLS certificate is for another host",
};

/** A request that could never be sent. */
const OUR_CODE = /^(ERR_INVALID_|UND_ERR_INVALID_ARG$|UND_ERR_NOT_SUPPORTED$)/;
const TIMEOUT_CODE = /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/;
const TOO_LARGE_CODE = /^UND_ERR_HEADERS_OVERFLOW$/;
const TLS_CODE = /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_CA$|EPROTO$)/;
const DNS_CODE = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/;
const MALFORMED_CODE = /^(UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_RESPONSE)/;

const REASONS: readonly (readonly [RegExp, FailureReason])[] = [
  [TIMEOUT_CODE, "timeout"],
  [TOO_LARGE_CODE, "too_large"],
  [TLS_CODE, "tls"],
  [DNS_CODE, "dns"],
  [MALFORMED_CODE, "malformed"],
];

function reasonOf(code: string): FailureReason {
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? "connect";
}
