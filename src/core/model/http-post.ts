import type { Failure } from "./observation.ts";

/** One POST or GET. */
export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON object or a plain text. Null: a GET. */
  readonly body: Readonly<Record<string, unknown>> | string | null;
  /** For a large reply: only its first line is kept, and the lines that begin with one of these names. */
  readonly keep?: readonly string[];
}

/** An HTTP reply as `io/` received it, not yet classified. */
export interface Reply {
  readonly httpStatus: number;
  /** The unparsed `Retry-After` header, or null. */
  readonly retryAfter: string | null;
  /** The target of a redirect; absent for any other reply. No redirect is followed. */
  readonly location?: string;
  readonly body: string;
}

/** The result of a request. Times are whole unix milliseconds, their distance measured by a clock that never jumps. */
export type PostResult = { readonly sentAtMs: number; readonly receivedAtMs: number } & ReplyOrFailure;

export type ReplyOrFailure = { readonly kind: "replied"; readonly reply: Reply } | PostFailure;

export interface PostFailure extends Failure {
  readonly kind: "failed";
  /** The status of a reply that failed after its headers, for example because it broke off. */
  readonly httpStatus?: number;
}

/** The port through which polls reach the network; a remote's failure is a result, never an exception. */
export type Post = (request: PostRequest) => Promise<PostResult>;
