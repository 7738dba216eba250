/** An HTTP answer as `io/` hands it over: nothing is judged yet. */
export interface Reply {
  readonly httpStatus: number;
  readonly contentType: string | null;
  /** The `Retry-After` header as it stands, or null. */
  readonly retryAfter: string | null;
  readonly body: string;
}
