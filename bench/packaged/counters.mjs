/**
 * Loaded into a program by `node --import`: counts its garbage collections and the files that it opens. At SIGUSR2 it
 * writes the counts so far as a line to stderr, with the number of that line, and the least that the heap held after a
 * collection since the line before, in bytes.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

const counts = { collections: 0, collectionMs: 0, opens: 0 };
let lines = 0;
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

process.on("SIGUSR2", () => {
  lines += 1;
  process.stderr.write(`counted ${lines} ${JSON.stringify({ ...counts, heapBytes })}\n`);
  heapBytes = Number.POSITIVE_INFINITY;
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
