import { z } from "zod";
import { STATUS_SCHEMA } from "../views/json-schemas.ts";
import type { StatusJson } from "../views/status-json.ts";
import { type CutOff, failureOf } from "./http-failure.ts";
import { ReplyReader } from "./reply-reader.ts";
import { Agent } from "./undici.ts";

/** What a running daemon says, or why it says nothing. */
export type StatusAnswer =
  | { readonly kind: "status"; readonly json: StatusJson }
  | { readonly kind: "failed"; readonly detail: string };

/** Far more than thousands of targets take. */
const MAX_BYTES = 64 * 1024 * 1024;

const StatusShape = z.fromJSONSchema(STATUS_SCHEMA);

/** Asks the daemon at this address, which may hold user and password, for all that it knows; it costs no budget. */
export async function fetchStatus(daemonUrl: string, timeoutMs: number): Promise<StatusAnswer> {
  const { origin, pathname } = new URL(`${daemonUrl.replace(/\/+$/, "")}/api/v1/status`);
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    ...authorizationOf(daemonUrl),
  };
  const agent = new Agent({ connect: { timeout: timeoutMs } });
  const reader = new ReplyReader(MAX_BYTES);
  let cutOff: CutOff | null = null;
  const deadline = setTimeout(() => {
    cutOff = "deadline";
    reader.stop();
  }, timeoutMs);
  try {
    agent.dispatch({ origin, path: pathname, method: "GET", headers }, reader);
    const answer = await reader.reply;
    return answer.kind === "failed" ? answer : readStatus(answer.reply);
  } catch (error) {
    return { kind: "failed", ...failureOf(error, cutOff, timeoutMs) };
  } finally {
    clearTimeout(deadline);
    await agent.destroy();
  }
}

/** What user and password in a URL stand for (RFC 7617): an HTTP client drops them. */
function authorizationOf(url: string): { readonly authorization?: string } {
  const { username, password } = new URL(url);
  if (username === "" && password === "") {
    return {};
  }
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

function readStatus({
  httpStatus,
  body,
}: {
  readonly httpStatus: number;
  readonly body: string;
}): StatusAnswer {
  if (httpStatus !== 200) {
    return { kind: "failed", detail: `answered with HTTP ${httpStatus}` };
  }
  const parsed = parseJson(body);
  if (!StatusShape.safeParse(parsed).success) {
    return {
      kind: "failed",
      detail: "answered with something else than a status: is that Synclag's address?",
    };
  }
  // The schema that was just checked describes exactly that, and a test holds the two together.
  return { kind: "status", json: parsed as StatusJson };
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
