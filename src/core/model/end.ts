import { formatNumber } from "./text.ts";

/** Where an indexer or a chain is finished, as configured: at a block, or from 00:00 UTC of a day. */
export type End = number | string;

/** Whether an indexer or chain that has reached `block` is at its end. `wallMs`: the present wall clock. */
export function isReached(end: End, block: number, wallMs: number): boolean {
  return typeof end === "number" ? block >= end : wallMs >= Date.parse(end);
}

/** Such as `ended at block 33,391,890` or `ended on 2026-06-30`. `literal`: as in chains.yaml. */
export function endedText(literal: string): string {
  return /^\d+$/.test(literal) ? `ended at block ${formatNumber(Number(literal))}` : `ended on ${literal}`;
}
