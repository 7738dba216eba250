import type { Status, TargetReport } from "../model/report.ts";
import { readAtMs } from "../model/sample.ts";
import { type Approach, newestSample, reached, type SourceState } from "../source/source-state.ts";
import { type Lag, measureLag } from "./lag.ts";
import type { ChainView } from "./view.ts";

/*
 * How fast a target that is behind catches up: the slope of a line through its distance from the head over the last ten minutes.
 * Indexers write in batches, so the slope has an error. A target counts as catching up once the slope exceeds that error, and
 * stops counting once the slope is negative. A target near the limit therefore does not change with each poll.
 */

const BEHIND: ReadonlySet<Status> = new Set(["lagging", "syncing"]);
/** Once a minute, with room for a poll that was early. */
const MARK_EVERY_MS = 50_000;
const WINDOW_MS = 600_000;
/** The window of a target that is polled rarely spans at least this many polls. */
const WINDOW_POLLS = 5;
const LEAST_MARKS = 4;
const LEAST_SPAN_MS = 180_000;
/** Chance alone exceeds this many standard errors three times in a thousand. */
const SURE_ERRORS = 3;
/** The reference is known to within a block at both ends. */
const LEAST_BLOCKS = 2;

/** Notes how far behind a target is after a poll; null while it is not behind, or only its low replicas are. A step back begins anew. */
export function followApproach(source: SourceState, view: ChainView): Approach | null {
  if (source.verdict === null || !BEHIND.has(source.verdict.status) || source.replicas?.isStale === true) {
    return null;
  }
  const newest = newestSample(source);
  const highest = reached(source);
  const distance = distanceOf(measureLag(source, view));
  if (newest === null || highest === null || distance === null) {
    return source.approach;
  }
  const mark = { atMs: readAtMs(newest), block: highest.block, behind: distance.behind };
  const former = source.approach?.unit === distance.unit ? source.approach : null;
  const last = former?.marks.at(-1);
  if (former === null || last === undefined || mark.block < last.block) {
    return { unit: distance.unit, marks: [mark], isClosing: null };
  }
  if (mark.atMs - last.atMs < MARK_EVERY_MS) {
    return former;
  }
  const windowMs = Math.max(WINDOW_MS, WINDOW_POLLS * source.pollIntervalMs);
  const marks = [...former.marks.filter(({ atMs }) => atMs > mark.atMs - windowMs - MARK_EVERY_MS), mark];
  const least = LEAST_BLOCKS * (distance.unit === "blocks" ? 1 : (view.intervalMs ?? 0));
  return {
    ...former,
    marks,
    isClosing: judge(marks, least, windowMs, former.isClosing),
  };
}

/** When a target is at the head again; null where that is not known yet, or it is not behind. */
export function reportCatchUp(
  approach: Approach | null,
  status: Status,
  lag: Lag | null,
  intervalMs: number | null,
): TargetReport["catch_up"] {
  const distance = distanceOf(lag);
  const isKnown = BEHIND.has(status) && distance !== null && distance.unit === approach?.unit;
  if (!isKnown || approach.isClosing === null || intervalMs === null) {
    return null;
  }
  const { perMs } = lineThrough(approach.marks);
  const blocksPerMs = distance.unit === "blocks" ? perMs : perMs / intervalMs;
  return {
    blocks_per_second: Math.round(blocksPerMs * 1e6) / 1e3,
    eta_seconds: approach.isClosing ? Math.round(distance.behind / perMs / 1_000) : null,
  };
}

function distanceOf(lag: Lag | null): { readonly unit: Approach["unit"]; readonly behind: number } | null {
  if (lag?.blocks != null) {
    return { unit: "blocks", behind: lag.blocks };
  }
  return lag?.ms == null ? null : { unit: "milliseconds", behind: lag.ms };
}

/** Whether it catches up. `false` needs the marks of a whole window, unless it was known before. */
function judge(
  marks: Approach["marks"],
  least: number,
  windowMs: number,
  before: boolean | null,
): boolean | null {
  const timesMs = marks.map(({ atMs }) => atMs);
  const spanMs = Math.max(...timesMs) - Math.min(...timesMs);
  if (marks.length < LEAST_MARKS || spanMs < LEAST_SPAN_MS) {
    return null;
  }
  const { perMs, errorPerMs } = lineThrough(marks);
  if (perMs > SURE_ERRORS * errorPerMs && perMs * spanMs > least) {
    return true;
  }
  return before === null && spanMs < windowMs ? null : before === true && perMs > 0;
}

/** How fast the distance shrinks, and the standard error of that rate (least squares). */
function lineThrough(marks: Approach["marks"]): { readonly perMs: number; readonly errorPerMs: number } {
  const meanMs = meanOf(marks.map(({ atMs }) => atMs));
  const meanBehind = meanOf(marks.map(({ behind }) => behind));
  const spread = sumOf(marks.map(({ atMs }) => (atMs - meanMs) ** 2));
  const slope = sumOf(marks.map(({ atMs, behind }) => (atMs - meanMs) * (behind - meanBehind))) / spread;
  const residue = sumOf(
    marks.map(({ atMs, behind }) => (behind - meanBehind - slope * (atMs - meanMs)) ** 2),
  );
  return { perMs: -slope, errorPerMs: Math.sqrt(residue / (marks.length - 2) / spread) };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}
