import { readFileSync } from "node:fs";
import type { Reply } from "../../src/core/model/http-post.ts";

/** A captured file of test/fixtures, as text. */
export function readFixture(path: string): string {
  return readFileSync(new URL(`../fixtures/${path}`, import.meta.url), "utf8");
}

/** An HTTP reply with this body; the defaults are those of a healthy server. */
export function replyOf(body: string, rest: Partial<Reply> = {}): Reply {
  return { httpStatus: 200, retryAfter: null, body, ...rest };
}
