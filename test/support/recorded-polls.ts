import { GRANTED } from "../../src/budgets/grant.ts";
import type { Use } from "../../src/budgets/ledger.ts";
import { createRedact } from "../../src/core/model/redact.ts";
import type { Failure, PollPorts } from "../../src/daemon/polling/poll.ts";

/** Where the ports of a poll differ from the default. */
export interface WantedPorts extends Partial<Pick<PollPorts, "retries" | "random" | "sleep" | "use">> {
  /** Whether the budget allows a request; default: always. */
  readonly allows?: (use: Use) => boolean;
  readonly secrets?: readonly string[];
}

/** Ports, and what was recorded at them. */
export interface RecordedPolls {
  readonly ports: PollPorts;
  /** The `query` of each request. */
  readonly questions: string[];
  readonly uses: Use[];
  readonly failures: Failure[];
  /** How long each back-off was asked to be. */
  readonly refusals: (number | null)[];
  /** The endpoint of each request that has ended. */
  readonly requests: string[];
  readonly sleeps: number[];
}

/** Ports that record what is called, never wait, and reach the network through the real `post`. */
export function recordPolls(wanted: WantedPorts & Pick<PollPorts, "post" | "nowMs">): RecordedPolls {
  const questions: string[] = [];
  const uses: Use[] = [];
  const failures: Failure[] = [];
  const refusals: (number | null)[] = [];
  const requests: string[] = [];
  const sleeps: number[] = [];
  const ports: PollPorts = {
    post: (request) => {
      questions.push(String(request.body["query"]));
      return wanted.post(request);
    },
    use: wanted.use ?? "scheduled",
    unsent: wanted.use === "opportunistic" ? "ignored" : "observed",
    acquire: (_endpoint, use) => {
      uses.push(use);
      const isAllowed = wanted.allows?.(use) ?? true;
      return Promise.resolve(
        isAllowed ? GRANTED : { kind: "refused", reason: "budget", detail: "not sent: nothing is left" },
      );
    },
    backOff: (_endpoint, retryAfterMs) => refusals.push(retryAfterMs),
    onAccepted: () => undefined,
    onRequest: (endpoint) => requests.push(endpoint.key),
    onFailure: (_endpoint, failure) => failures.push(failure),
    sleep: (durationMs) => {
      sleeps.push(durationMs);
      return wanted.sleep?.(durationMs) ?? Promise.resolve("done");
    },
    nowMs: wanted.nowMs,
    random: wanted.random ?? (() => 0),
    redact: createRedact(wanted.secrets ?? []),
    retries: wanted.retries ?? 1,
  };
  return { ports, questions, uses, failures, refusals, requests, sleeps };
}
