import type { ProxySettings } from "../../config/options/proxy-settings.ts";
import { type StatusJson, StatusSchema } from "../../views/api/api-schema.ts";
import { createDispatcher } from "./dispatcher.ts";
import { type CutOff, failureOf } from "./failure.ts";
import { ReplyReader } from "./reply-reader.ts";

/** What a running daemon says, or why it says nothing. */
export type StatusAnswer =
  | { readonly kind: "status"; readonly json: StatusJson }
  | {
      readonly kind: "failed";
      readonly detail: string;
      /** What its web configuration keeps us from: it wants a password, or its certificate is not trusted. */
      readonly guard: "password" | "tls" | null;
    };

export interface StatusQuestion {
  /** The daemon's address, without a slash at the end. */
  readonly url: string;
  readonly authorization: string | null;
}

/** Far more than thousands of targets take. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Asks a daemon for all that it knows; it costs no budget. */
export async function fetchStatus(
  { url, authorization }: StatusQuestion,
  timeoutMs: number,
  proxy: ProxySettings | null,
): Promise<StatusAnswer> {
  const { origin, pathname } = new URL(`${url}/api/v1/status`);
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
    return answer.kind === "failed" ? failed(answer.detail) : readStatus(answer.reply);
  } catch (error) {
    const { reason, detail } = failureOf(error, cutOff, timeoutMs);
    return failed(detail, reason === "tls" ? "tls" : null);
  } finally {
    clearTimeout(deadline);
    await agent.destroy();
  }
}

function readStatus({
  httpStatus,
  body,
}: {
  readonly httpStatus: number;
  readonly body: string;
}): StatusAnswer {
  if (httpStatus !== 200) {
    return failed(`answered with HTTP ${httpStatus}`, httpStatus === 401 ? "password" : null);
  }
  const { success, data } = StatusSchema.safeParse(parseJson(body));
  return success
    ? { kind: "status", json: data }
    : failed("answered with something other than a Synclag status: check the address");
}

function failed(detail: string, guard: "password" | "tls" | null = null): StatusAnswer {
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
