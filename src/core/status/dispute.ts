import { newestSample, type SourceState } from "../source/source-state.ts";

/** Sides of equal weight that contradict each other, and by how much. */
export interface Dispute {
  /** Keys of the sources of each side, with the highest block that they have shown. */
  readonly sides: readonly { readonly sources: readonly string[]; readonly block: number }[];
  /** From the highest of the sides to the lowest. */
  readonly blocks: number;
  /** By how much the times of their blocks contradict each other; null where that is not known, or nothing. */
  readonly offMs: number | null;
  /** Whether the chain has an RPC node, which did not decide it. */
  readonly hasRpc: boolean;
}

/** Block times that differ by less do not contradict each other. */
const LEAST_OFF_MS = 120_000;

/** What the sides of an undecided consensus say; null where it is decided. */
export function disputeOf(
  undecided: readonly (readonly string[])[],
  sources: readonly SourceState[],
  intervalMs: number | null,
): Dispute | null {
  if (undecided.length === 0) {
    return null;
  }
  const byKey = new Map(sources.map((source) => [source.key, source]));
  const speakers = undecided.map((keys) => highestOf(keys.flatMap((key) => byKey.get(key) ?? [])));
  const blocks = speakers.map((speaker) => blockOf(speaker));
  return {
    sides: undecided.map((keys, index) => ({ sources: keys, block: blocks[index] ?? 0 })),
    blocks: Math.max(...blocks) - Math.min(...blocks),
    offMs: mostOffMs(speakers, intervalMs),
    hasRpc: sources.some(({ kind }) => kind === "rpc"),
  };
}

function highestOf(sources: readonly SourceState[]): SourceState | null {
  return sources.toSorted((a, b) => blockOf(b) - blockOf(a))[0] ?? null;
}

function blockOf(source: SourceState | null): number {
  return source === null ? 0 : (newestSample(source)?.block ?? 0);
}

/** The most by which the block times of two sides are off, by the pace of the chain. */
function mostOffMs(speakers: readonly (SourceState | null)[], intervalMs: number | null): number | null {
  const origins = speakers.flatMap((speaker) => {
    const sample = speaker?.samples.findLast(({ timestampSec }) => timestampSec !== null);
    return sample?.timestampSec == null
      ? []
      : [sample.timestampSec * 1_000 - sample.block * (intervalMs ?? 0)];
  });
  const offMs = Math.max(...origins) - Math.min(...origins);
  return intervalMs === null || origins.length < 2 || offMs < LEAST_OFF_MS ? null : offMs;
}
