import type { FailureReason, PollTimes } from "./observation.ts";

/** One request and what came of it, for a person who looks into an endpoint. */
export interface Exchange extends PollTimes {
  /** The request's body, as JSON. */
  readonly asked: string;
  /** Null where no HTTP answer came. */
  readonly httpStatus: number | null;
  /** `refused`: the server does not know this question, and another one was asked. */
  readonly outcome: "usable" | "refused" | FailureReason;
  /** The beginning of the answer, or what went wrong: one line, without secrets. */
  readonly text: string;
}
