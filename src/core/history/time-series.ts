import { groupBy } from "../model/group-by.ts";
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

/** Rows are kept as they came, for a step then adds one short list; columns are made of them once the page is full. */
interface OpenPage {
  readonly firstStep: number;
  /** What the numbers of a row are of: the same list for all. What is new comes last, so that older rows are shorter. */
  readonly names: readonly string[];
  /** One for each step, empty where nothing was recorded. */
  readonly rows: readonly Column[];
}

/** The numbers of one instant. */
export interface Row {
  /** For each number what it is of; for one name always as many, one after the other. */
  readonly names: readonly string[];
  readonly numbers: Column;
}

export const NEW_RECORDING: Recording = { pages: [], open: null };

/** Whether a step has begun of which nothing is recorded. */
export function isDue({ open }: Recording, { stepMs }: Resolution, nowMs: number): boolean {
  return open === null || open.firstStep + open.rows.length - 1 !== Math.floor(nowMs / stepMs);
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
  const { firstStep, names, rows } = same ?? { firstStep: step, names: row.names, rows: [] };
  const oldest = pageStart - kept * pageSteps;
  const pages = (same === null ? pagesOf(recording) : recording.pages)
    .filter((page) => page.firstStep >= oldest && page.firstStep < firstStep)
    // A clock that goes back and forth makes more of them.
    .slice(-kept);
  const known = allNames(names, row.names);
  const skipped = new Array<Column>(Math.max(0, step - firstStep - rows.length)).fill(NOTHING);
  // Where the clock went back within the page, what follows is left out.
  const former = rows.slice(0, step - firstStep);
  return { pages, open: { firstStep, names: known, rows: former.concat(skipped, [inOrder(row, known)]) } };
}

const NOTHING: Column = [];

/** The same list where nothing is new, as nearly always. */
function allNames(known: readonly string[], names: readonly string[]): readonly string[] {
  if (isSameList(known, names)) {
    return known;
  }
  const before = new Set(known);
  return known.concat(names.filter((name) => !before.has(name)));
}

/** The numbers of a row as these names have them; null for what is no longer recorded. */
function inOrder(row: Row, names: readonly string[]): Column {
  if (isSameList(row.names, names)) {
    return row.numbers;
  }
  const numbers = new Map(
    [...groupBy([...row.names.entries()], ([, name]) => name)].map(
      ([name, its]) => [name, its.map(([at]) => row.numbers[at] ?? null).values()] as const,
    ),
  );
  return names.map((name) => numbers.get(name)?.next().value ?? null);
}

function isSameList(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name, index) => name === others[index]);
}

/** All of it as pages of text. */
export function pagesOf({ pages, open }: Recording): readonly Page[] {
  if (open === null) {
    return pages;
  }
  const places = groupBy([...open.names.entries()], ([, name]) => name);
  const textsOf = (its: readonly (readonly [at: number, name: string])[]) =>
    its.map(([at]) => writeColumn(columnAt(open, at)));
  const tracks = Object.fromEntries([...places].map(([name, its]) => [name, textsOf(its)]));
  return [...pages, { firstStep: open.firstStep, tracks }];
}

function columnAt({ rows }: OpenPage, at: number): Column {
  return rows.map((row) => row[at] ?? null);
}

/** Goes on from pages of text. */
export function resumeRecording(pages: readonly Page[]): Recording {
  const last = pages.at(-1);
  if (last === undefined) {
    return NEW_RECORDING;
  }
  const tracks = Object.entries(last.tracks);
  const names = tracks.flatMap(([name, texts]) => texts.map(() => name));
  const columns = tracks.flatMap(([, texts]) => texts.map(readColumn));
  const steps = columns.reduce((longest, { length }) => Math.max(longest, length), 0);
  const rows = Array.from({ length: steps }, (_, step) => columns.map((column) => column[step] ?? null));
  return { pages: pages.slice(0, -1), open: { firstStep: last.firstStep, names, rows } };
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
  if (open !== null) {
    const at = open.names.indexOf(which.name) + which.column;
    put(open.firstStep, open.names[at] === which.name ? columnAt(open, at) : []);
  }
  return values;
}

/** The first step of which anything may be recorded, or null. */
export function firstStepOf({ pages, open }: Recording): number | null {
  return pages[0]?.firstStep ?? open?.firstStep ?? null;
}
