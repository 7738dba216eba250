import { type Column, readColumn, writeColumn } from "./number-column.ts";

/** How finely and how long is recorded. */
export interface Resolution {
  readonly stepMs: number;
  /** Steps of a page: what is full is written as text, and the oldest goes page by page. */
  readonly pageSteps: number;
  /** Full pages that are kept beside the one under way. */
  readonly pages: number;
}

/** A page of text: plain data, as a state file keeps it. */
export interface Page {
  /** The first that was recorded, in steps since 1970. */
  readonly firstStep: number;
  /** By the name of what was recorded, a text for each of its columns. */
  readonly tracks: Readonly<Record<string, readonly string[]>>;
}

/** Some numbers of each of many tracks, at even steps: bounded, and replaced instead of edited. */
export interface Recording {
  /** Oldest first. */
  readonly pages: readonly Page[];
  readonly open: OpenPage | null;
}

interface OpenPage {
  readonly firstStep: number;
  readonly steps: number;
  /** Maps and lists of just the size they need: of a large fleet, thousands are held. */
  readonly tracks: ReadonlyMap<string, readonly Column[]>;
}

/** The numbers of one instant, by the name of what they are of: for one name always as many, in the same order. */
export type Row = ReadonlyMap<string, Column>;

export const NEW_RECORDING: Recording = { pages: [], open: null };

/** Whether a step has begun of which nothing is recorded. */
export function isDue({ open }: Recording, { stepMs }: Resolution, nowMs: number): boolean {
  return open === null || open.firstStep + open.steps - 1 !== Math.floor(nowMs / stepMs);
}

/** Records a row. Where the clock went back, what was recorded of the time since is forgotten. */
export function record(
  recording: Recording,
  resolution: Resolution,
  { nowMs, row }: { readonly nowMs: number; readonly row: Row },
): Recording {
  const { pageSteps, pages: kept } = resolution;
  const step = Math.floor(nowMs / resolution.stepMs);
  const pageStart = step - (step % pageSteps);
  const { open } = recording;
  const same = open !== null && open.firstStep >= pageStart && open.firstStep <= step ? open : null;
  const { firstStep, tracks } = same ?? { firstStep: step, tracks: new Map() };
  const oldest = pageStart - kept * pageSteps;
  const pages = (same === null ? pagesOf(recording) : recording.pages)
    .filter((page) => page.firstStep >= oldest && page.firstStep < firstStep)
    // A clock that goes back and forth makes more of them.
    .slice(-kept);
  return {
    pages,
    open: { firstStep, steps: step - firstStep + 1, tracks: write(tracks, row, step - firstStep) },
  };
}

/** All of it as pages of text. */
export function pagesOf({ pages, open }: Recording): readonly Page[] {
  if (open === null) {
    return pages;
  }
  const tracks = Object.fromEntries(mapValues(open.tracks, (columns) => columns.map(writeColumn)));
  return [...pages, { firstStep: open.firstStep, tracks }];
}

/** Goes on from pages of text. */
export function resumeRecording(pages: readonly Page[]): Recording {
  const last = pages.at(-1);
  if (last === undefined) {
    return NEW_RECORDING;
  }
  const tracks = mapValues(new Map(Object.entries(last.tracks)), (texts) => texts.map(readColumn));
  const lengths = [...tracks.values()].flatMap((columns) => columns.map(({ length }) => length));
  const steps = lengths.reduce((longest, length) => Math.max(longest, length), 0);
  return { pages: pages.slice(0, -1), open: { firstStep: last.firstStep, steps, tracks } };
}

/** One column of one track, from one step to another, both included; null where nothing is recorded. */
export function playColumn(
  { pages, open }: Recording,
  which: { readonly name: string; readonly column: number },
  span: { readonly firstStep: number; readonly lastStep: number },
): Column {
  const values = new Array<number | null>(Math.max(0, span.lastStep - span.firstStep + 1)).fill(null);
  const put = (firstStep: number, column: Column) => {
    for (const [index, value] of column.entries()) {
      const at = firstStep + index - span.firstStep;
      if (at >= 0 && at < values.length) {
        values[at] = value;
      }
    }
  };
  for (const page of pages) {
    put(page.firstStep, readColumn(page.tracks[which.name]?.[which.column] ?? ""));
  }
  put(open?.firstStep ?? 0, open?.tracks.get(which.name)?.[which.column] ?? []);
  return values;
}

/** The first step of which anything may be recorded, or null. */
export function firstStepOf({ pages, open }: Recording): number | null {
  return pages[0]?.firstStep ?? open?.firstStep ?? null;
}

/** Tracks that are no longer recorded stay until their page goes. */
function write(former: OpenPage["tracks"], row: Row, index: number): OpenPage["tracks"] {
  const tracks = new Map(mapValues(former, (columns) => columns.map((column) => until(column, index))));
  for (const [name, values] of row) {
    const columns = tracks.get(name);
    tracks.set(
      name,
      values.map((value, column) => setAt(columns?.[column] ?? [], index, value)),
    );
  }
  return tracks;
}

function until(column: Column, index: number): Column {
  return column.length <= index ? column : column.slice(0, index);
}

/** What was skipped is not known. */
function setAt(column: Column, index: number, value: number | null): Column {
  // A list that is spread into another gets room to grow, half as much again.
  return column.concat(new Array<null>(index - column.length).fill(null), value);
}

function mapValues<T, R>(named: ReadonlyMap<string, T>, convert: (value: T) => R): ReadonlyMap<string, R> {
  return new Map([...named].map(([name, value]) => [name, convert(value)]));
}
