import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { SavedHistory } from "../../core/history/history.ts";
import { isSystemError } from "../system-error.ts";
import { writeAtomically } from "./write-atomically.ts";

/** By the chain's slug. */
type SavedHistories = Readonly<Record<string, SavedHistory>>;

type NamedHistory = readonly [slug: string, history: SavedHistory];

/** Raised when an older version could misread the file. A file of another version is ignored. */
const VERSION = 2;

/** Numbers are saved as the base64 of their bytes: a large fleet has millions of them. */
const Numbers = z.base64().transform((text, context) => {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % Float64Array.BYTES_PER_ELEMENT !== 0) {
    context.addIssue({ code: "custom", message: `Cannot read ${bytes.length} bytes as numbers of 8 bytes` });
    return z.NEVER;
  }
  // A copy: a small buffer is part of a shared one, and may begin anywhere in it.
  return new Float64Array(new Uint8Array(bytes).buffer);
});
const Ring = z.strictObject({ steps: Numbers, series: z.record(z.string(), Numbers) });
const Chain = z.strictObject({ fine: Ring, coarse: Ring });
const HistoryFile = z.strictObject({
  version: z.literal(VERSION),
  chains: z.record(z.string(), Chain),
});

/** The file of the plotted history, beside the state file, which is written far more often and is much smaller. */
export function historyPathOf(statePath: string): string {
  return `${statePath}.history`;
}

/** Reads it; null where there is none, or an invalid one: the plots then start empty. */
export async function readHistoryFile(statePath: string): Promise<SavedHistories | null> {
  try {
    return HistoryFile.parse(JSON.parse(await readFile(historyPathOf(statePath), "utf8"))).chains;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || isSystemError(error)) {
      return null;
    }
    throw error;
  }
}

/** Writes it, all of it or nothing. @throws If the disk refuses; the previous file is then still there. */
export async function writeHistoryFile(statePath: string, chains: Iterable<NamedHistory>): Promise<void> {
  await writeAtomically(historyPathOf(statePath), partsOf(chains));
}

/** One chain at a time: the text of a large fleet made at once would block the process. */
function* partsOf(chains: Iterable<NamedHistory>): Iterable<string> {
  yield `{"version":${VERSION},"chains":{`;
  let separator = "";
  for (const [slug, history] of chains) {
    yield `${separator}${JSON.stringify(slug)}:${historyText(history)}`;
    separator = ",";
  }
  yield "}}\n";
}

/** The history of one chain as JSON. */
export function historyText(history: SavedHistory): string {
  return JSON.stringify(history, base64OfNumbers);
}

/** Reads what `historyText` wrote; null where it is invalid. */
export function readHistoryText(text: string): SavedHistory | null {
  try {
    return Chain.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) {
      return null;
    }
    throw error;
  }
}

function base64OfNumbers(_key: string, value: unknown): unknown {
  return value instanceof Float64Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")
    : value;
}
