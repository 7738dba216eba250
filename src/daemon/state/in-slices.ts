import { setImmediate } from "node:timers/promises";

/** Longest slice before yielding to the event loop. */
const SLICE_MS = 5;

/** Calls `step` for each item, yielding to the event loop every few milliseconds so that a large fleet does not delay polls. */
export async function inSlices<Item>(
  items: Iterable<Item>,
  step: (item: Item) => void,
  nowMs: () => number,
): Promise<void> {
  let startedMs = nowMs();
  for (const item of items) {
    step(item);
    if (Math.abs(nowMs() - startedMs) >= SLICE_MS) {
      await setImmediate();
      startedMs = nowMs();
    }
  }
}
