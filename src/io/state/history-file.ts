import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import type { SavedHistory } from "../../core/history/history.ts";
import type { SavedRing } from "../../core/history/ring.ts";
import type { SavedColumn } from "../../core/history/ring-column.ts";
import { hasCode } from "../system-error.ts";
import { MAX_FILE_BYTES, TOO_LONG } from "./file.ts";
import { writeAtomically } from "./write-atomically.ts";

/** By the chain's slug. */
type SavedHistories = Readonly<Record<string, SavedHistory>>;

type HistoryFound =
  | { readonly kind: "history"; readonly chains: SavedHistories }
  | { readonly kind: "invalid"; readonly reason: string };

type NamedHistory = readonly [slug: string, history: SavedHistory];

/** Raised when an older version could misread the file. A file of another version is ignored. */
const VERSION = 4;

/** Numbers are saved as the base64 of their bytes: a large fleet has millions of them. */
const Bytes = z.base64().transform((text) => new Uint8Array(Buffer.from(text, "base64")).buffer);
const Float64 = Bytes.refine(({ byteLength }) => byteLength % 8 === 0)
  .transform((bytes) => new Float64Array(bytes))
  .refine((values) => values.every(isPlausible));
const Float32 = Bytes.refine(({ byteLength }) => byteLength % 4 === 0)
  .transform((bytes) => new Float32Array(bytes))
  .refine((values) => values.every(isPlausible));
const Names = z.array(z.string());
const ColumnJson = z.union([
  z
    .strictObject({ names: Names, float64: Float64 })
    .transform(({ names, float64 }) => ({ names, values: float64 })),
  z
    .strictObject({ names: Names, float32: Float32 })
    .transform(({ names, float32 }) => ({ names, values: float32 })),
]);
const RingJson = z.strictObject({ timesMs: Float64, columns: z.array(ColumnJson) });
const Chain = z.strictObject({ fine: RingJson, coarse: RingJson });
const Header = z.object({ version: z.int() });
const Line = Chain.extend({ slug: z.string() });

/**
 * The file of the plotted history, beside the state file, which is written far more often and is much smaller. A line of JSON
 * for each chain: of tens of thousands of targets, the whole is longer than a string can be.
 */
export function historyPathOf(statePath: string): string {
  return `${statePath}.history`;
}

/** Reads it; empty where there is none, or one of another version. @throws If the disk refuses. */
export async function readHistoryFile(statePath: string): Promise<HistoryFound> {
  const path = historyPathOf(statePath);
  try {
    if ((await stat(path)).size > MAX_FILE_BYTES) {
      return { kind: "invalid", reason: TOO_LONG };
    }
    const [header = "", ...lines] = linesOf(await readFile(path));
    const { version } = Header.parse(JSON.parse(header.toString()));
    return { kind: "history", chains: version === VERSION ? Object.fromEntries(lines.map(readLine)) : {} };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) {
      return { kind: "invalid", reason: "it is damaged" };
    }
    if (hasCode(error, "ENOENT")) {
      return { kind: "history", chains: {} };
    }
    throw error;
  }
}

/** Writes it, all of it or nothing. @throws If the disk refuses; the previous file is then still there. */
export async function writeHistoryFile(statePath: string, chains: Iterable<NamedHistory>): Promise<void> {
  await writeAtomically(historyPathOf(statePath), partsOf(chains));
}

/** NaN stands for an unknown value. */
function isPlausible(value: number): boolean {
  return Number.isNaN(value) || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** One chain at a time: the text of a large fleet made at once would block the process. */
function* partsOf(chains: Iterable<NamedHistory>): Iterable<string> {
  yield `${JSON.stringify({ version: VERSION } satisfies z.input<typeof Header>)}\n`;
  for (const [slug, history] of chains) {
    yield `${JSON.stringify({ slug, ...toJson(history) } satisfies z.input<typeof Line>)}\n`;
  }
}

/** Each is a part of these bytes, not a copy. */
function* linesOf(bytes: Buffer): Iterable<Buffer> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf("\n", start);
    const end = newline < 0 ? bytes.length : newline;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

function readLine(line: Buffer): NamedHistory {
  const { slug, ...history } = Line.parse(JSON.parse(line.toString()));
  return [slug, history];
}

/** The history of one chain as JSON. */
export function historyText(history: SavedHistory): string {
  return JSON.stringify(toJson(history));
}

function toJson({ fine, coarse }: SavedHistory): z.input<typeof Chain> {
  return { fine: ringToJson(fine), coarse: ringToJson(coarse) };
}

function ringToJson({ timesMs, columns }: SavedRing): z.input<typeof RingJson> {
  return { timesMs: base64Of(timesMs), columns: columns.map(columnToJson) };
}

function columnToJson({ names, values }: SavedColumn): z.input<typeof ColumnJson> {
  const text = base64Of(values);
  return values instanceof Float64Array
    ? { names: [...names], float64: text }
    : { names: [...names], float32: text };
}

function base64Of({ buffer, byteOffset, byteLength }: NodeJS.TypedArray): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
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
