import { percentile } from "../../test/worlds/figures.ts";
import { type Figure, sizeFigures } from "../performance/subject.ts";
import type { Reading } from "./readings.ts";

const MINUTE_MS = 60_000;
const MINUTES_A_DAY = 1_440;
const USE = "Use";
const SYNCLAG = "Synclag";
const FLOOR = "Node, undici and fastify";
const BLACKBOX = "blackbox_exporter";
const CPU = "CPU, % of a core";
const REQUESTS = "requests a minute";
const UNREAD = "Synclag, without readers";
/** What Synclag should not exceed, by column. */
const GOALS: Readonly<Record<string, number>> = {
  [CPU]: 0.5,
  "CPU ÷ blackbox_exporter's": 1,
  "written, kB a minute": 1_000,
  "RSS, MB": 85,
};

/** Of the three programs, in that order: what they used between two readings. */
export function useFigures(before: readonly Reading[], after: readonly Reading[]): readonly Figure[] {
  const [synclag = Number.NaN, floor = Number.NaN, blackbox = Number.NaN] = after.map((reading, index) =>
    shareOf(before[index], reading),
  );
  return [
    ...[SYNCLAG, FLOOR, BLACKBOX].flatMap((row, index) => useOf(row, before[index], after[index])),
    ...rowOf(USE, SYNCLAG, {
      "CPU ÷ floor's": synclag / floor,
      "CPU ÷ blackbox_exporter's": synclag / blackbox,
    }),
  ];
}

/** What the first screen of the document says, from all parts of `useFigures` and the last readings. */
export function sizingOf(parts: readonly Figure[], [last]: readonly Reading[]): readonly Figure[] {
  const medianOf = (wanted: string): number =>
    percentile(
      parts.flatMap(({ row, column, value }) => (row === SYNCLAG && column === wanted ? [value] : [])),
      0.5,
    );
  return sizeFigures("packaged chains.yaml: 129 endpoints, each every 15 s to 30 min", {
    requestsADay: medianOf(REQUESTS) * MINUTES_A_DAY,
    cpuShare: medianOf(CPU),
    rssMb: last?.rssMb ?? Number.NaN,
    peakMb: last?.peakMb ?? Number.NaN,
  });
}

/** What the daemon used between two readings while nobody read its pages. */
export function unreadFigures([before]: readonly Reading[], [after]: readonly Reading[]): readonly Figure[] {
  return useOf(UNREAD, before, after);
}

/** Of the three programs, in that order. */
export function memoryFigures(readings: readonly Reading[]): readonly Figure[] {
  return readings.flatMap(({ rssMb, peakMb, anonymousMb, counts }, index) => {
    const heapBytes = counts?.heapBytes ?? null;
    return rowOf("Memory at the end", [SYNCLAG, FLOOR, BLACKBOX][index] ?? "", {
      "RSS, MB": rssMb,
      "at most, MB": peakMb,
      "its own, MB": anonymousMb,
      "heap used, MB": heapBytes === null ? null : heapBytes / 1e6,
    });
  });
}

function useOf(row: string, since: Reading | undefined, until: Reading | undefined): readonly Figure[] {
  if (since === undefined || until === undefined) {
    return [];
  }
  const minutes = (until.atMs - since.atMs) / MINUTE_MS;
  const perMinute = (amount: (reading: Reading) => number | undefined): number | null => {
    const [before, after] = [amount(since), amount(until)];
    return before === undefined || after === undefined ? null : (after - before) / minutes;
  };
  return rowOf(USE, row, {
    [CPU]: shareOf(since, until),
    [REQUESTS]: perMinute(({ requests }) => requests),
    "connections opened a minute": perMinute(({ connections }) => connections),
    "written, kB a minute": perMinute(({ writtenBytes }) => writtenBytes / 1_000),
    "files opened a minute": perMinute(({ counts }) => counts?.opens),
    "garbage collections a minute": perMinute(({ counts }) => counts?.collections),
    "collecting, ms a minute": perMinute(({ counts }) => counts?.collectionMs),
  });
}

function shareOf(since: Reading | undefined, until: Reading): number {
  return since === undefined ? Number.NaN : (100 * (until.cpuMs - since.cpuMs)) / (until.atMs - since.atMs);
}

/** Its columns, in this order, with the goals of the daemon. */
function rowOf(
  table: string,
  row: string,
  columns: Readonly<Record<string, number | null>>,
): readonly Figure[] {
  return Object.entries(columns).flatMap(([column, value]) => {
    const atMost = row === SYNCLAG ? GOALS[column] : undefined;
    return value === null ? [] : [{ table, row, column, value, ...(atMost === undefined ? {} : { atMost }) }];
  });
}
