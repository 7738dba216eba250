/**
 * Loaded into a program by `node --import`: samples what it allocates. When asked, it collects garbage and says how many
 * bytes of the heap that are still in use were allocated by which folder of the program, and what else the process holds.
 * Code of a package counts for the folder that called it.
 */
import { Session } from "node:inspector";
import { tellWhenAsked } from "../programs/tell.mjs";

/** Bytes between two samples, on average. */
const INTERVAL = 16_384;
const session = new Session();
session.connect();
post("HeapProfiler.startSampling", { samplingInterval: INTERVAL });

tellWhenAsked(() => {
  post("HeapProfiler.collectGarbage");
  const { profile } = post("HeapProfiler.getSamplingProfile");
  const folders = {};
  addUp(profile.head, "", folders);
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  return { folders, heapUsed, external, arrayBuffers, rss };
});

/** `folder`: the nearest of the program among the callers, such as `core/head`; empty if there is none. */
function addUp({ callFrame, selfSize, children }, folder, folders) {
  const [, own] = /\/dist\/(?:(.*)\/)?[^/]+\.js$/.exec(callFrame.url) ?? [];
  const isOwn = /\/dist\//.test(callFrame.url) && !/\/node_modules\//.test(callFrame.url);
  const here = isOwn ? (own ?? "main") : folder;
  folders[here] = (folders[here] ?? 0) + selfSize;
  for (const child of children) {
    addUp(child, here, folders);
  }
}

/** In the same thread an answer is there at once. */
function post(method, params) {
  let answer;
  session.post(method, params, (error, result) => {
    if (error !== null) {
      throw new Error(`Cannot call ${method}: ${error.message}`);
    }
    answer = result;
  });
  return answer;
}
