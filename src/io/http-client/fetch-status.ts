import { z } from "zod";
import type { ProxySettings } from "../../config/config.ts";
import type { Report } from "../../core/model/report.ts";
import { ReportSchema } from "../../core/model/report-schema.ts";
import { createDispatcher } from "./dispatcher.ts";
import { type CutOff, failureOf } from "./failure.ts";
import { ReplyReader } from "./reply-reader.ts";

/** What a running daemon says, or why it says nothing. */
export type StatusAnswer = { readonly kind: "status"; readonly json: Report } | FailedAnswer;

interface FailedAnswer {
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

const Openapi = z.object({ info: z.object({ title: z.literal("Synclag"), version: z.string() }) });

/** Asks a daemon for all that it knows; it costs no budget. */
export async function fetchStatus(
  question: StatusQuestion,
  timeoutMs: number,
  proxy: ProxySettings | null,
): Promise<StatusAnswer> {
  const answer = await fetchJson("/api/v1/status", question, { timeoutMs, proxy });
  if (answer.kind === "failed") {
    return answer;
  }
  const { success, data, error } = ReportSchema.safeParse(answer.json);
  if (success) {
    return { kind: "status", json: data };
  }
  const version = await fetchVersion(question, timeoutMs, proxy);
  const [issue] = error.issues;
  return failed(
    version === null
      ? "answered with something other than a Synclag status: check the address"
      : `Synclag ${version} answered with a status that this version cannot read (${issue?.path.join(".")}: ${issue?.message})`,
  );
}

/** The version of the Synclag at an address; null where that cannot be found out. */
export async function fetchVersion(
  question: StatusQuestion,
  timeoutMs: number,
  proxy: ProxySettings | null,
): Promise<string | null> {
  const answer = await fetchJson("/openapi.json", question, { timeoutMs, proxy });
  const openapi = answer.kind === "failed" ? null : Openapi.safeParse(answer.json);
  return openapi?.data?.info.version ?? null;
}

async function fetchJson(
  path: string,
  { url, authorization }: StatusQuestion,
  { timeoutMs, proxy }: { readonly timeoutMs: number; readonly proxy: ProxySettings | null },
): Promise<{ readonly kind: "json"; readonly json: unknown } | FailedAnswer> {
  const { origin, pathname } = new URL(`${url}${path}`);
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    ...(authorization === null ? {} : { authorization }),
  };
  const agent = createDispatcher(origin, { connect: { timeout: timeoutMs } }, proxy);
  const reader = new ReplyReader(MAX_BYTES);
  let cutOff: CutOff | null = null;
  const deadline = setTimeout(() => {
    cutOff = "deadline";
    reader.stop();
  }, timeoutMs);
  try {
    agent.dispatch({ origin, path: pathname, method: "GET", headers }, reader);
    const answer = await reader.reply;
    if (answer.kind === "failed") {
      return failed(answer.detail);
    }
    const { httpStatus, body } = answer.reply;
    return httpStatus === 200
      ? { kind: "json", json: parseJson(body) }
      : failed(`answered with HTTP ${httpStatus}`, httpStatus === 401 ? "password" : null);
  } catch (error) {
    const { reason, detail } = failureOf(error, cutOff, timeoutMs);
    return failed(detail, reason === "tls" ? "tls" : null);
  } finally {
    clearTimeout(deadline);
    await agent.destroy();
  }
}

function failed(detail: string, guard: FailedAnswer["guard"] = null): FailedAnswer {
  return { kind: "failed", detail, guard };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      return null;
    }
    throw error;
  }
}
