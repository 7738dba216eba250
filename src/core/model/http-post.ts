import type { Reply } from "./http-reply.ts";
import type { FailureReason } from "./observation.ts";

/** One POST of a JSON body. */
export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What came of it. Times are whole unix milliseconds, their distance measured by a clock that never jumps. */
export type PostResult = { readonly sentAtMs: number; readonly receivedAtMs: number } & (
  | { readonly kind: "replied"; readonly reply: Reply }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string }
);

/** The port through which polls reach the network; a remote's failure is a result, never an exception. */
export type Post = (request: PostRequest) => Promise<PostResult>;
