import { ErrorReply } from "@redis/client";
import { z } from "zod";
import { codeOf, connectionDetail } from "../http-client/failure.ts";
import { REPLACED } from "./store-script.ts";

/** What a script returned, or why nothing is known of it. */
export type StoreReply<Value> = { readonly kind: "reply"; readonly value: Value } | StoreFailure;

/** A call that failed. The script may have run all the same: the connection may have broken after the server received it. */
export interface StoreFailure {
  readonly kind: "failed";
  /**
   * `away`: not connected, or the connection broke. `slow`: no reply within a second. `refused`: the server accepts no writes, for
   * example because it is read-only or out of memory. `unusable`: it cannot run this script, or its reply is not what the script returns.
   */
  readonly reason: "away" | "slow" | "refused" | "unusable";
  /** For people. It has no host, user or password in it. */
  readonly detail: string;
}

/** Not connected: the call was not sent. */
export const NOT_CONNECTED: StoreFailure = { kind: "failed", reason: "away", detail: "no connection" };

/** No reply within the time that a call may take. */
export const NO_REPLY: StoreFailure = {
  kind: "failed",
  reason: "slow",
  detail: "no reply within a second",
};

/** An error of the client as a value. */
export function storeFailure(error: unknown): StoreFailure {
  if (error instanceof ErrorReply) {
    return refusal(error.message);
  }
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    const at = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
    return { kind: "failed", reason: "unusable", detail: `unexpected reply: ${issue?.message}${at}` };
  }
  const code = codeOf(error);
  const detail = code === null ? "the connection was closed" : connectionDetail(code);
  return { kind: "failed", reason: "away", detail };
}

/** Whether the server does not have a script, so that its text must be sent. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.startsWith("NOSCRIPT");
}

/** The key of a value that a script found unusable and has replaced; null for another error. */
export function replacedKey(error: unknown): string | null {
  const isReplaced = error instanceof ErrorReply && error.message.startsWith(`${REPLACED} `);
  return isReplaced ? error.message.slice(REPLACED.length + 1) : null;
}

const LONGEST_DETAIL = 200;
const REFUSALS: Readonly<Record<string, string>> = {
  READONLY: "it is a read-only replica",
  OOM: "it is out of memory",
  MISCONF: "it cannot save to its disk and refuses writes",
  LOADING: "it is loading its data",
  BUSY: "it is busy with a script",
  NOAUTH: "it requires a password",
  WRONGPASS: "user or password are wrong",
  MASTERDOWN: "it is a replica without its primary",
  CLUSTERDOWN: "its cluster is down",
  NOREPLICAS: "it has too few replicas to accept writes",
  MOVED: "it is a cluster node that does not hold these keys",
};

const NO_PERMISSION =
  "the user lacks a permission: keys synclag:*, commands EVAL, EVALSHA, SET and those of the scripts";

/** An error of the server begins with its code; the code of a command within a script is in the middle of the text. */
function refusal(message: string): StoreFailure {
  const codes: readonly string[] = message.match(/\b[A-Z]{3,}\b/g) ?? [];
  const detail = codes.map((code) => REFUSALS[code]).find((text) => text !== undefined);
  if (detail !== undefined) {
    return { kind: "failed", reason: "refused", detail };
  }
  const ofScript = codes.includes("NOPERM")
    ? NO_PERMISSION
    : `it answers: ${message.slice(0, LONGEST_DETAIL)}`;
  return { kind: "failed", reason: "unusable", detail: ofScript };
}
