import type { Status, TargetReport } from "../../core/model/report.ts";

/** How loud a status is. `idle`: nobody knows yet; `busy`: on its way. */
export type Tone = "ok" | "busy" | "idle" | "warn" | "bad";

export interface StatusWords {
  readonly tone: Tone;
  /** Says the same as the colour, for whoever cannot see it. */
  readonly glyph: string;
  /** For a cell of a matrix: one word, at most seven letters. */
  readonly short: string;
  /** Goes on after a comma: `lockup on Base, subgraph, …`. */
  readonly phrase: string;
  /** Worst first: what a person should look at before the others. */
  readonly severity: number;
}

/** How people are told of each status. */
export const STATUS_WORDS: Readonly<Record<Status, StatusWords>> = {
  diverged: { tone: "bad", glyph: "✕", short: "forked", phrase: "on another chain or fork", severity: 0 },
  failed: { tone: "bad", glyph: "✕", short: "failed", phrase: "failed", severity: 1 },
  missing: { tone: "bad", glyph: "✕", short: "missing", phrase: "missing from the answer", severity: 2 },
  not_found: { tone: "bad", glyph: "✕", short: "gone", phrase: "not found", severity: 3 },
  rejected: { tone: "bad", glyph: "✕", short: "key", phrase: "key rejected", severity: 4 },
  unreachable: { tone: "bad", glyph: "✕", short: "down", phrase: "unreachable", severity: 5 },
  stalled: { tone: "bad", glyph: "✕", short: "stalled", phrase: "stalled", severity: 6 },
  lagging: { tone: "warn", glyph: "▲", short: "behind", phrase: "lagging", severity: 7 },
  throttled: { tone: "warn", glyph: "▲", short: "quota", phrase: "throttled", severity: 8 },
  chain_halted: { tone: "warn", glyph: "‖", short: "halted", phrase: "the chain stands still", severity: 9 },
  syncing: { tone: "busy", glyph: "↻", short: "syncing", phrase: "syncing", severity: 10 },
  unknown: { tone: "idle", glyph: "?", short: "no data", phrase: "nothing known yet", severity: 11 },
  ok: { tone: "ok", glyph: "✓", short: "ok", phrase: "ok", severity: 12 },
};

/** Whether somebody should do something: not while it is catching up, and not before anything is known. */
export function needsSomebody(status: Status): boolean {
  const { tone } = STATUS_WORDS[status];
  return tone === "bad" || tone === "warn";
}

/** What stands beside a sentence of that tone. */
export const TONE_GLYPHS: Readonly<Record<Tone, string>> = {
  ok: STATUS_WORDS.ok.glyph,
  busy: STATUS_WORDS.syncing.glyph,
  idle: STATUS_WORDS.unknown.glyph,
  warn: STATUS_WORDS.lagging.glyph,
  bad: STATUS_WORDS.failed.glyph,
};

/** ` (timeout)`: the reason of a failure, where neither the status nor the detail has said it. */
export function reasonNote({
  status,
  reason,
  detail,
}: Pick<TargetReport, "status" | "reason" | "detail">): string {
  return reason === null || reason === status || detail.includes(reason) ? "" : ` (${reason})`;
}
