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
