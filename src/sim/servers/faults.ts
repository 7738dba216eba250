/** A fault between an endpoint and its caller. */
export type Fault =
  /** Another answer in place of the true one. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** The true answer, damaged in transit. */
  | { readonly kind: "delivery"; readonly how: Delivery };

/** The ways in which an answer is damaged in transit. */
export type Delivery =
  | "hang_before_headers"
  | "hang_within_body"
  | "reset_before_headers"
  | "reset_within_body"
  /** One byte a second. */
  | "drip"
  /** Half of the JSON, with a matching length. */
  | "truncated"
  /** 20 MB of JSON. */
  | "huge"
  /** 64 KB that unpack to 64 MB. */
  | "gzip_bomb"
  /** Labelled `deflate`, but is not. */
  | "deflate_garbage"
  /** True, with `Content-Type: text/plain`. */
  | "plain_text"
  /** True, without any content type. */
  | "untyped"
  /** True, as HTTP/1.0 without a length: the end of the connection ends it. */
  | "http_1_0"
  /** True, after a 102 and a 103. */
  | "informational";

/** How often a fault occurs; without either, until `heal()`. */
export interface FaultFrequency {
  /** So many requests, then no more. */
  readonly times?: number;
  /** A share of the requests, in [0, 1], chosen by the fleet's seed. */
  readonly share?: number;
}
