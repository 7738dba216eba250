import type { FailureReason, Head } from "../../src/core/model/observation.ts";

/** What a source replies: a height, `missing` or `not_started`, or how its poll fails; null: it is not polled. */
export type Reply =
  | number
  | (Partial<Head> & { readonly block: number })
  | FailureReason
  | { readonly failed: FailureReason; readonly detail: string }
  | "missing"
  | "not_started"
  | null;

/** The chain of a source at the instant of a poll. */
export interface Moment {
  /** The newest block of the chain. */
  readonly head: number;
  /** Unix seconds at which the chain made a block, of the past or of the future. */
  readonly time: (block: number) => number;
}

export type Script = (moment: Moment) => Reply;

/** So many blocks behind the head, or with a negative number ahead of it. */
export function behind(blocks: number): Script {
  return ({ head }) => head - blocks;
}

/** So many blocks behind the head, with the time of its block, which is wrong by `offSec`. */
export function dated(blocks = 0, offSec = 0): Script {
  return ({ head, time }) => ({ block: head - blocks, timestampSec: time(head - blocks) + offSec });
}

/** One reply after the other, again and again. */
export function inTurn(...scripts: readonly Script[]): Script {
  let next = 0;
  return (moment) => {
    const script = scripts[next % scripts.length];
    next += 1;
    return script === undefined ? null : script(moment);
  };
}
