import type { ReplyOrFailure } from "../../src/core/model/http-post.ts";
import type { Damage } from "../../src/sim/servers/answer.ts";

/** The faults of the network, as the HTTP client reports them. */
export async function deliverBadly(
  { name }: Damage,
  timeoutMs: number,
  leftMs: number,
): Promise<ReplyOrFailure> {
  switch (name) {
    case "hang_before_headers":
    case "hang_within_body":
      await sleep(leftMs);
      return { kind: "failed", reason: "timeout", detail: `no reply within ${timeoutMs / 1_000} s` };
    case "reset_before_headers":
    case "reset_within_body":
      return { kind: "failed", reason: "connect", detail: "connection reset" };
    default:
      throw new RangeError(`Cannot play ${name} without a socket`);
  }
}

export function sleep(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
