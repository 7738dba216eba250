/**
 * Loaded into a program by `node --import`: counts its garbage collections and the files that it opens. When asked, it
 * says the counts so far, and the least that the heap held after a collection since it was asked before, in bytes.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { tellWhenAsked } from "../programs/tell.mjs";

const counts = { collections: 0, collectionMs: 0, opens: 0 };
let heapBytes = Number.POSITIVE_INFINITY;

new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) {
    counts.collections += 1;
    counts.collectionMs += duration;
  }
  heapBytes = Math.min(heapBytes, getHeapStatistics().used_heap_size);
}).observe({ entryTypes: ["gc"] });

// Each opens one file. What else opens one, such as writeFile() with a callback, does so through these.
countCalls(fs, ["open", "openSync", "readFile", "readFileSync"]);
countCalls(fs.promises, ["open", "readFile", "writeFile", "appendFile"]);
syncBuiltinESMExports();

tellWhenAsked(() => {
  const told = { ...counts, heapBytes };
  heapBytes = Number.POSITIVE_INFINITY;
  return told;
});

function countCalls(module, names) {
  for (const name of names) {
    const original = module[name];
    module[name] = (file, ...rest) => {
      // A number or a handle is a file that is open already.
      counts.opens += typeof file === "string" || file instanceof URL || file instanceof Uint8Array ? 1 : 0;
      return original(file, ...rest);
    };
  }
}
