import type { ProxySettings } from "../../config/config.ts";
import type { Report } from "../../core/model/report.ts";
import { ReportSchema } from "../../core/model/report-schema.ts";
import { parseJson } from "../../core/model/text.ts";
import { createHttpClient } from "./client.ts";

/** What a running daemon says, or why it says nothing. */
export type StatusAnswer = { readonly kind: "status"; readonly json: Report } | FailedAnswer;

export interface FailedAnswer {
  readonly kind: "failed";
  readonly detail: string;
  /** What its web configuration keeps us from: it wants a password, or its certificate is not trusted. */
  readonly guard: "password" | "tls" | null;
}

export interface StatusQuestion {
  /** The daemon's address, without a slash at the end. */
  readonly url: string;
  readonly authorization: string | null;
}

/** Far more than thousands of targets take. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Asks a daemon for all that it knows; it costs no budget. */
export async function fetchStatus(
  question: StatusQuestion,
  timeoutMs: number,
  proxy: ProxySettings | null,
): Promise<StatusAnswer> {
  const answer = await fetchJson("/api/v1/status", question, timeoutMs, proxy);
  if (answer.kind === "failed") {
    return answer;
  }
  const { success, data, error } = ReportSchema.safeParse(answer.json);
  if (success) {
    return { kind: "status", json: data };
  }
  const [issue] = error.issues;
  return failed(
    `answered with something other than a Synclag status of this version (${issue?.path.join(".")}: ${issue?.message}): check the address and the version`,
  );
}

/** What a daemon answers at a path. */
export async function fetchJson(
  path: string,
  { url, authorization }: StatusQuestion,
  timeoutMs: number,
  proxy: ProxySettings | null,
): Promise<{ readonly kind: "json"; readonly json: unknown } | FailedAnswer> {
  await using client = createHttpClient({
    timeoutMs,
    maxResponseBytes: MAX_BYTES,
    connectionsPerHost: 1,
    userAgent: "synclag",
    nowMs: () => 0,
    proxy,
  });
  const headers = authorization === null ? {} : { authorization };
  const result = await client.post({ url: `${url}${path}`, headers, body: null });
  if (result.kind === "failed") {
    return failed(result.detail, result.reason === "tls" ? "tls" : null);
  }
  const { httpStatus, body } = result.reply;
  return httpStatus === 200
    ? { kind: "json", json: parseJson(body) }
    : failed(`answered with HTTP ${httpStatus}`, httpStatus === 401 ? "password" : null);
}

function failed(detail: string, guard: FailedAnswer["guard"] = null): FailedAnswer {
  return { kind: "failed", detail, guard };
}
