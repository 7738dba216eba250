import { readFileSync, statSync, writeFileSync } from "node:fs";
import { eventText } from "../src/core/events/event.ts";
import { EventLog } from "../src/core/events/event-log.ts";
import type { Report, Status } from "../src/core/model/report.ts";
import { isoTime } from "../src/core/model/text.ts";
import { readEvents } from "../src/daemon/state/event-store.ts";
import { renderFleetHistory } from "../src/views/page/strip.ts";
import { temporaryFolder } from "../test/support/temporary-folder.ts";
import {
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../test/views/sample-report.ts";

/*
 * What the events of 10,000 targets take that change their status every three days for a month: `node --expose-gc --import tsx bench/events.ts`.
 */

const TARGETS_PER_CHAIN = 20;
const CHAINS = 500;
const HOUR_MS = 3_600_000;
const HOURS = 30 * 24;
const PERIOD_HOURS = 72;
const DETAIL =
  "has not advanced for 10 min while its chain does, 12 min (360 blocks) behind the reference seen by 5 sources";

const base = fleet();
const log = new EventLog();
const before = heap();
let notedMs = 0;
let events = 0;
const startMs = Date.now() - HOURS * HOUR_MS;
for (let hour = 0; hour < HOURS; hour += 1) {
  const report = reportAt(hour);
  const from = performance.now();
  events += log.note(report, true).length;
  notedMs += performance.now() - from;
}
const memory = heap() - before;
const last = reportAt(HOURS - 1);
const others = last.targets.map((target) => ({ ...target }));
const quietMs = timed(() => {
  for (let second = 0; second < 100; second += 1) {
    log.note({ ...last, targets: second % 2 === 0 ? last.targets : others }, true);
  }
});
await using folder = await temporaryFolder();
const file = `${folder.path}/events`;
writeFileSync(
  file,
  log
    .all()
    .map((event) => `${eventText(event)}\n`)
    .join(""),
);
const bytes = statSync(file).size;
const page = timed(() =>
  renderFleetHistory(last, { events: log, range: "30d" }, { q: "", sort: "", range: "30d" }),
);
const reading = performance.now();
readEvents(readFileSync(file, "utf8"));
process.stdout.write(
  `${events} events happened, ${log.size} are kept: ${mb(memory)} of heap, ${mb(bytes)} on disk (${Math.round(bytes / log.size)} bytes each), at most ${mb(2 * bytes)}; ` +
    `a report of which all is new takes ${(notedMs / HOURS).toFixed(1)} ms, one without news ${(quietMs / 100).toFixed(1)} ms, the strips of the fleet ${page.toFixed(0)} ms, the file ${(performance.now() - reading).toFixed(0)} ms at the start\n`,
);

function fleet(): Report {
  const chains = Array.from({ length: CHAINS }, (_, index) => {
    const chain = sampleChain({ slug: `chain-${index}`, id: index + 1 });
    const targets = Array.from({ length: TARGETS_PER_CHAIN }, (_target, number) => {
      const [protocol, variant] = [`p${number % 4}`, `v${number}`];
      return sampleTargetReport({
        target: sampleTarget({ protocol, variant, chain: chain.slug, chainId: chain.id }),
        detail: DETAIL,
      });
    });
    return sampleChainReport({ chain, targets });
  });
  return sampleReport({ chains });
}

/** Each hour another part of the fleet changes. */
function reportAt(hour: number): Report {
  const statusOf = (index: number): Status =>
    Math.floor((hour + index) / PERIOD_HOURS) % 2 === 0 ? "ok" : "stalled";
  return {
    ...base,
    generated_at: isoTime(startMs + hour * HOUR_MS),
    targets: base.targets.map((target, index) => ({ ...target, status: statusOf(index % PERIOD_HOURS) })),
  };
}

function timed(work: () => unknown): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function mb(size: number): string {
  return `${(size / 1e6).toFixed(0)} MB`;
}
