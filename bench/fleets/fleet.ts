import type { Subject } from "../performance/subject.ts";
import { CONCURRENCY, measureSize, type Size } from "./measure-size.ts";
import { comparisonOf, detailsOf, growthOf, LINEAR, sizingOf } from "./size-figures.ts";

const LARGE: Size = { endpoints: 10_000, periodSec: 15, durationSec: 45 };
/** So small that they can be measured at the same time. */
const SMALL: readonly Size[] = [
  { endpoints: 100, periodSec: 15, durationSec: 60 },
  { endpoints: 1_000, periodSec: 15, durationSec: 60 },
];
const SELDOM: Size = { endpoints: 1_000, periodSec: 60, durationSec: 60 };
const QUICK: Size = { endpoints: 1_000, periodSec: 5, durationSec: 5 };
const GOALS = { "CPU, % of a core": 6, "RSS, MB": 300, "first request, ms": 100, "loop delay p99, ms": 10 };

export const subject: Subject = {
  title: "Large fleets",
  about: `
A real \`synclag run\` with everything on (state file, history, log), ten endpoints per chain, each with one target, polls an indexer on loopback that replies immediately, in rounds of all
endpoints, ${CONCURRENCY} at a time. This is the worst case: endpoints with schedules of their own spread over the period. It starts with a full day's history, and is scraped every
15 s with gzip, as Prometheus does. The small fleets are measured at the same time, the large one alone.

- *CPU*: user and system time of all threads, without and with the scrapes.
- *RSS*: maximum, sampled each second.
- *First request* and *last request*: time at which they reach the indexer, after the second that the schedule names; worst round and median.
- *Loop delay*: how late a 10 ms timer is, 99th percentile and maximum (\`monitorEventLoopDelay\`, in the process itself).
- *Start*: from process start until it is ready: configuration and history read, every endpoint polled.

*Growth* is the exponent between neighbouring sizes: 1 is linear, above ${LINEAR} is worse than linear.`,

  async measure(extent) {
    if (extent === "quick") {
      const quick = await measureSize(QUICK);
      return [...detailsOf(quick, {}), ...comparisonOf([quick])];
    }
    const large = await measureSize(LARGE);
    const [seldom, ...small] = await Promise.all([SELDOM, ...SMALL].map(measureSize));
    const bySize = [...small, large];
    const all = seldom === undefined ? bySize : [...bySize, seldom];
    return [...all.flatMap(sizingOf), ...detailsOf(large, GOALS), ...comparisonOf(all), ...growthOf(bySize)];
  },
};
