import type { ChainReport } from "../model/report.ts";
import type { Column } from "./number-column.ts";
import {
  firstStepOf,
  isDue,
  NEW_RECORDING,
  type Page,
  pagesOf,
  playColumn,
  type Recording,
  type Resolution,
  type Row,
  record,
  resumeRecording,
} from "./time-series.ts";

/** The newest two hours closely, and more than a day by the minute. Once full, 20 kB a target in memory and 16 kB on disk (bench/history.ts). */
const FINE: Resolution = { stepMs: 15_000, pageSteps: 60, pages: 8 };
const COARSE: Resolution = { stepMs: 60_000, pageSteps: 60, pages: 24 };

/** What is kept of one chain's past. */
export interface ChainHistory {
  readonly fine: Recording;
  readonly coarse: Recording;
}

/** The same as plain data. */
export interface SavedHistory {
  readonly fine: readonly Page[];
  readonly coarse: readonly Page[];
}

/** A stretch of a chain's past: every list is as long as `timesMs`, and null where nothing is known. */
export interface HistorySlice {
  readonly timesMs: readonly number[];
  readonly reference: Column;
  /** By the target's key. */
  readonly targets: Readonly<Record<string, PastTarget>>;
}

interface PastTarget {
  readonly block: Column;
  readonly lagMs: Column;
  readonly gapBlocks: Column;
  readonly uncertaintyBlocks: Column;
}

/** What is asked of a history: `points` is the most instants that are told. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly points: number;
}

export const NEW_HISTORY: ChainHistory = { fine: NEW_RECORDING, coarse: NEW_RECORDING };

/** No target has this key. */
const REFERENCE = "reference";
/** Gaps have halves; a column holds integers. */
const PARTS_OF_A_BLOCK = 10;

/**
 * Adds what a report says, if a step has begun of which nothing is recorded; else it is the same history, as it is
 * where the report knows nothing.
 */
export function recordChain(history: ChainHistory, report: ChainReport, nowMs: number): ChainHistory {
  const isFineDue = isDue(history.fine, FINE, nowMs);
  const isCoarseDue = isDue(history.coarse, COARSE, nowMs);
  if (!isFineDue && !isCoarseDue) {
    return history;
  }
  const row = rowOf(report);
  if (row.numbers.every((value) => value === null)) {
    return history;
  }
  const now = { nowMs, row };
  return {
    fine: isFineDue ? record(history.fine, FINE, now) : history.fine,
    coarse: isCoarseDue ? record(history.coarse, COARSE, now) : history.coarse,
  };
}

/** A history as plain data. */
export function saveHistory({ fine, coarse }: ChainHistory): SavedHistory {
  return { fine: pagesOf(fine), coarse: pagesOf(coarse) };
}

/** Goes on from what was saved. */
export function resumeHistory({ fine, coarse }: SavedHistory): ChainHistory {
  return { fine: resumeRecording(fine), coarse: resumeRecording(coarse) };
}

/**
 * The stretch of a history from `fromMs` to `toMs` for these targets: by the minute, its newest part more closely. It
 * begins where something is known. Of more than `points` instants, neighbours are told as one: the last height, the longest lag, the
 * widest gap, so that no spike is hidden.
 */
export function readHistory(
  { fine, coarse }: ChainHistory,
  keys: readonly string[],
  span: Span,
): HistorySlice {
  const fineFromMs = firstMs(fine, FINE) ?? Number.POSITIVE_INFINITY;
  const coarseFromMs = firstMs(coarse, COARSE) ?? Number.POSITIVE_INFINITY;
  const [near, far] = [
    stretchOf(fine, FINE, { fromMs: Math.max(span.fromMs, fineFromMs), toMs: span.toMs }),
    stretchOf(coarse, COARSE, {
      fromMs: Math.max(span.fromMs, coarseFromMs),
      toMs: Math.min(span.toMs, fineFromMs - 1),
    }),
  ];
  const play = (name: string, column: number) => [...far.play(name, column), ...near.play(name, column)];
  const size = Math.ceil((far.timesMs.length + near.timesMs.length) / span.points);
  const told = (column: Column, pick: Pick) => (size > 1 ? inGroups(column, size).map(pick) : column);
  return {
    timesMs: told([...far.timesMs, ...near.timesMs], last).filter((time) => time !== null),
    reference: told(play(REFERENCE, 0), last),
    targets: Object.fromEntries(
      keys.map((key) => [
        key,
        {
          block: told(play(key, 0), last),
          lagMs: told(play(key, 1), largest),
          gapBlocks: told(play(key, 2), largest).map(toBlocks),
          uncertaintyBlocks: told(play(key, 3), largest).map(toBlocks),
        },
      ]),
    ),
  };
}

type Pick = (group: Column) => number | null;

function rowOf({ reference, targets, gaps }: ChainReport): Row {
  const gapOf = new Map(gaps.map((gap) => [gap.target.key, gap]));
  const names: string[] = [];
  const numbers: (number | null)[] = [];
  for (const { target, block, lagMs } of targets) {
    const gap = gapOf.get(target.key);
    names.push(target.key, target.key, target.key, target.key);
    numbers.push(
      block,
      lagMs === null ? null : Math.round(lagMs),
      gap === undefined ? null : Math.round(gap.blocks * PARTS_OF_A_BLOCK),
      gap === undefined ? null : Math.ceil(gap.uncertaintyBlocks * PARTS_OF_A_BLOCK),
    );
  }
  // Joined to a list of just the size it needs: of a large fleet, thousands are held.
  return { names: names.concat(REFERENCE), numbers: numbers.concat(reference?.block ?? null) };
}

function toBlocks(parts: number | null): number | null {
  return parts === null ? null : parts / PARTS_OF_A_BLOCK;
}

function firstMs(recording: Recording, { stepMs }: Resolution): number | null {
  const first = firstStepOf(recording);
  return first === null ? null : first * stepMs;
}

function stretchOf(
  recording: Recording,
  { stepMs }: Resolution,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
) {
  const isEmpty = fromMs > toMs;
  const firstStep = isEmpty ? 0 : Math.ceil(fromMs / stepMs);
  const lastStep = isEmpty ? -1 : Math.floor(toMs / stepMs);
  const length = Math.max(0, lastStep - firstStep + 1);
  return {
    timesMs: Array.from({ length }, (_, index) => (firstStep + index) * stepMs),
    play: (name: string, column: number) => playColumn(recording, { name, column }, { firstStep, lastStep }),
  };
}

/** Counted from the end, so that the newest group is a full one. */
function inGroups(column: Column, size: number): readonly Column[] {
  const first = column.length % size;
  const groups = first === 0 ? [] : [column.slice(0, first)];
  for (let start = first; start < column.length; start += size) {
    groups.push(column.slice(start, start + size));
  }
  return groups;
}

function last(group: Column): number | null {
  return group.findLast((value) => value !== null) ?? null;
}

function largest(group: Column): number | null {
  return group.reduce(
    (widest, value) => (value !== null && Math.abs(value) >= Math.abs(widest ?? 0) ? value : widest),
    null,
  );
}
