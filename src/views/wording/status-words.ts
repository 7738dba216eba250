import type { Status } from "../../core/model/report.ts";

/** The colour of a status or sentence. `busy`: in progress; `idle`: nothing is known. */
export type Tone = "ok" | "busy" | "idle" | "warn" | "bad";

export interface StatusWords {
  readonly tone: Tone;
  /** Conveys the same as the colour, for people who cannot see it. */
  readonly glyph: string;
  /** For a cell of the matrix: one word of at most seven letters. */
  readonly short: string;
  /** For a sentence, after a comma: `lockup subgraph on Base, …`. */
  readonly phrase: string;
  /** The lower, the sooner a person should look at it. */
  readonly severity: number;
}

const STATUS_WORDS: Readonly<Record<Status, StatusWords>> = {
  diverged: { tone: "bad", glyph: "✕", short: "forked", phrase: "on another chain or fork", severity: 0 },
  failed: { tone: "bad", glyph: "✕", short: "failed", phrase: "failed", severity: 1 },
  missing: { tone: "bad", glyph: "✕", short: "missing", phrase: "missing from the reply", severity: 2 },
  not_found: { tone: "bad", glyph: "✕", short: "absent", phrase: "not found", severity: 3 },
  rejected: { tone: "bad", glyph: "✕", short: "key", phrase: "key rejected", severity: 4 },
  unreachable: { tone: "bad", glyph: "✕", short: "down", phrase: "unreachable", severity: 5 },
  stalled: { tone: "bad", glyph: "✕", short: "stalled", phrase: "stalled", severity: 6 },
  lagging: { tone: "warn", glyph: "▲", short: "behind", phrase: "lagging", severity: 7 },
  throttled: { tone: "warn", glyph: "▲", short: "quota", phrase: "throttled", severity: 8 },
  chain_halted: { tone: "warn", glyph: "‖", short: "halted", phrase: "the chain is halted", severity: 9 },
  syncing: { tone: "busy", glyph: "↻", short: "syncing", phrase: "syncing", severity: 10 },
  unknown: { tone: "idle", glyph: "?", short: "no data", phrase: "no data", severity: 11 },
  ok: { tone: "ok", glyph: "✓", short: "ok", phrase: "ok", severity: 12 },
};

/** How a status is presented to people; one of another version's daemon as it is, and as a problem. */
export function statusWords(status: string): StatusWords {
  const known: Readonly<Record<string, StatusWords>> = STATUS_WORDS;
  return known[status] ?? { tone: "warn", glyph: "▲", short: status, phrase: status, severity: 7 };
}

/** Whether a person should act: not while a target is syncing or nothing is known. */
export function needsAction(status: string): boolean {
  const { tone } = statusWords(status);
  return tone === "bad" || tone === "warn";
}

/** The glyph beside a sentence of each tone. */
export const TONE_GLYPHS: Readonly<Record<Tone, string>> = {
  ok: STATUS_WORDS.ok.glyph,
  busy: STATUS_WORDS.syncing.glyph,
  idle: STATUS_WORDS.unknown.glyph,
  warn: STATUS_WORDS.lagging.glyph,
  bad: STATUS_WORDS.failed.glyph,
};

/** ` (timeout)`: the reason of a failure, unless the status or the detail names it already. */
export function reasonSuffix({
  status,
  reason,
  detail,
}: {
  readonly status: string;
  readonly reason: string | null;
  readonly detail: string;
}): string {
  return reason === null || reason === status || detail.includes(reason) ? "" : ` (${reason})`;
}
