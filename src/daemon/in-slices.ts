import { setImmediate } from "node:timers/promises";

/** So long the process may be deaf to everything else. */
const SLICE_MS = 5;

/** Does something with each item, and lets the event loop turn every few milliseconds: a large fleet must not make polls late. */
export async function inSlices<Item>(
  items: Iterable<Item>,
  step: (item: Item) => void,
  nowMs: () => number,
): Promise<void> {
  let beganMs = nowMs();
  for (const item of items) {
    step(item);
    if (Math.abs(nowMs() - beganMs) >= SLICE_MS) {
      await setImmediate();
      beganMs = nowMs();
    }
  }
}
