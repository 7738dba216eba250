/** Whether a request may be sent. */
export type Grant =
  | { readonly kind: "drawn" }
  | {
      readonly kind: "refused";
      /** `budget`: our own limit. `rate_limited`: the provider wants to be left alone. */
      readonly reason: "budget" | "rate_limited";
      /** Why, and until when, for people. */
      readonly detail: string;
    };

/** Nothing speaks against it. */
export const GRANTED: Grant = { kind: "drawn" };
