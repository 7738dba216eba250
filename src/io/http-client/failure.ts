import type { PostFailure } from "../../core/model/http-post.ts";
import type { FailureReason } from "../../core/model/observation.ts";

const SELF_SIGNED = "the TLS certificate is self-signed";
const NOT_TRUSTED = "the TLS certificate comes from an authority that is not trusted";
const OTHER_HOST = "the TLS certificate is for another host";

/** Error codes of Node's network, of TLS and of undici. If the detail is null, the message shows the code. */
const FAILURES: readonly (readonly [codes: RegExp, reason: FailureReason, detail: string | null])[] = [
  [/^ENOTFOUND$/, "dns", "the host name does not resolve"],
  [/^EAI_AGAIN$/, "dns", "the name server does not answer"],
  [/^(EAI_|ENODATA$|ESERVFAIL$)/, "dns", null],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "timeout", "the host does not answer"],
  [/^UND_ERR_HEADERS_OVERFLOW$/, "too_large", "the headers of the reply are too long"],
  // undici throws this for a status below 100.
  [/^ERR_ASSERTION$/, "malformed", "replied with an invalid HTTP status line"],
  [/^(UND_ERR_RES_CONTENT_LENGTH_MISMATCH$|UND_ERR_RESPONSE)/, "malformed", "the reply is not valid HTTP"],
  [/^CERT_HAS_EXPIRED$/, "tls", "the TLS certificate has expired"],
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, "tls", SELF_SIGNED],
  [/^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT.*))$/, "tls", NOT_TRUSTED],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "tls", OTHER_HOST],
  [/^ERR_SSL_WRONG_VERSION_NUMBER$/, "tls", "the server does not speak TLS at this port"],
  [/^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|UNABLE_TO_|INVALID_CA$|EPROTO$)/, "tls", null],
  [/^ECONNREFUSED$/, "connect", "the host refuses the connection"],
  [/^ECONNRESET$/, "connect", "the connection was reset"],
  [/^UND_ERR_SOCKET$/, "connect", "the connection was closed before the reply was complete"],
  [/^UND_ERR_ABORTED$/, "connect", "the proxy refuses the connection"],
  [/^EHOSTUNREACH$/, "connect", "no route to the host"],
  [/^ENETUNREACH$/, "connect", "the network is unreachable"],
  [/^EMFILE$/, "connect", "no file descriptor is left for a connection"],
];
/** The codes of a request that could never be sent: a bug. */
const OUR_CODE = /^(ERR_INVALID_|UND_ERR_INVALID_ARG$|UND_ERR_NOT_SUPPORTED$)/;

/**
 * Names a failure below HTTP.
 *
 * @throws The error itself if it is not a failure of the network: then it is a bug.
 */
export function failureOf(error: unknown): PostFailure {
  // undici's error may have no code.
  if (error instanceof Error && error.name === "HTTPParserError") {
    return { kind: "failed", reason: "malformed", detail: "the reply is not HTTP" };
  }
  const code = codeOf(error);
  if (code === null || OUR_CODE.test(code)) {
    throw error;
  }
  const reason = FAILURES.find(([codes]) => codes.test(code))?.[1] ?? "connect";
  return { kind: "failed", reason, detail: connectionDetail(code) };
}

/** The meaning of an error code of Node's network or TLS, without a host or address. */
export function connectionDetail(code: string): string {
  return FAILURES.find(([codes]) => codes.test(code))?.[2] ?? `connection failed (${code})`;
}

/** The code of an error, or null. If a host name has several addresses, the error contains an error for each: the first counts. */
export function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) {
    return null;
  }
  if ("code" in error && typeof error.code === "string") {
    return error.code;
  }
  return codeOf(error instanceof AggregateError ? error.errors[0] : error.cause);
}

/** Whether a user can accept the certificate that a failure is about: by trusting its authority, or by naming its host. */
export function certificateFault(detail: string): "authority" | "host" | null {
  if (detail === OTHER_HOST) {
    return "host";
  }
  return detail === SELF_SIGNED || detail === NOT_TRUSTED ? "authority" : null;
}
