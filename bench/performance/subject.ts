/** One number of one run. Figures of one `table` share its rows and columns. */
export interface Figure {
  readonly table: string;
  /** What varies down the table, such as "1,000 endpoints, TLS". */
  readonly row: string;
  /** What varies across, such as "Synclag" or "Synclag ÷ floor"; with its unit, such as "RSS, MB". */
  readonly column: string;
  readonly value: number;
  /** What it should not exceed, if that was promised. */
  readonly atMost?: number;
}

/** `quick` says the same with fewer sizes and less time: a few seconds for a subject. */
export type Extent = "whole" | "quick";

/** Something that is measured; one file each. */
export interface Subject {
  readonly title: string;
  /** Markdown: what is measured, beside what, and how; what the reader should know to trust or doubt it. */
  readonly about: string;
  /** One run, in a fresh process. */
  readonly measure: (extent: Extent) => Promise<readonly Figure[]>;
}

/** The table with which the document begins: what a container needs. */
export const SIZES = "Sizes";

/** What a fleet of one size needs. */
interface Need {
  readonly requestsADay: number;
  readonly cpuShare: number;
  readonly rssMb: number;
  /** The most that it ever was. */
  readonly peakMb: number;
}

/** The row of that table. */
export function sizeFigures(row: string, { requestsADay, cpuShare, rssMb, peakMb }: Need): readonly Figure[] {
  return [
    { table: SIZES, row, column: "requests a day", value: requestsADay },
    { table: SIZES, row, column: "CPU, % of a core", value: cpuShare },
    { table: SIZES, row, column: "memory (RSS), MB", value: rssMb },
    { table: SIZES, row, column: "at most, MB", value: peakMb },
  ];
}
