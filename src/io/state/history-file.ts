import type { SavedHistory } from "../../core/history/history.ts";
import type { SavedRing } from "../../core/history/ring.ts";
import { readText, TOO_LONG } from "./file.ts";
import { seal, unsealText } from "./seal.ts";
import { writeAtomically } from "./write-atomically.ts";

type NamedHistory = readonly [slug: string, history: SavedHistory];

/** Raised with every change of what `SavedHistory` holds. A file of another version is ignored. */
export const HISTORY_SHAPE = 5;
const HEADER = JSON.stringify({ version: HISTORY_SHAPE });
const ANY_HEADER = /^\{"version":\d+[,}]/;

/** Numbers are saved as the base64 of their bytes: a large fleet has millions of them. */
interface RingJson {
  readonly timesMs: string;
  readonly columns: readonly {
    readonly names: readonly string[];
    readonly bits: 32 | 64;
    readonly values: string;
  }[];
}

/**
 * The file of the plotted history, beside the state file, which is written far more often and is much smaller. A line
 * for each chain, so that none is made of all at once.
 */
export function historyPathOf(statePath: string): string {
  return `${statePath}.history`;
}

/**
 * Reads it, by the chain's slug; empty where there is none, or one of another version. Where it cannot be used, says why.
 *
 * @throws {StateFileError} If the disk refuses.
 */
export async function readHistoryFile(
  statePath: string,
): Promise<Readonly<Record<string, SavedHistory>> | string> {
  const text = await readText(historyPathOf(statePath));
  if (text === null || text === TOO_LONG) {
    return text ?? {};
  }
  const [header = "", ...lines] = text.trimEnd().split("\n");
  if (header !== HEADER) {
    return ANY_HEADER.test(header) ? {} : "it is damaged";
  }
  const chains = lines.map(readHistoryText);
  return chains.includes(null)
    ? "it is damaged"
    : Object.fromEntries(chains.filter((chain) => chain !== null));
}

/** Writes it, all of it or nothing. @throws If the disk refuses; the previous file is then still there. */
export async function writeHistoryFile(statePath: string, chains: Iterable<NamedHistory>): Promise<void> {
  await writeAtomically(historyPathOf(statePath), partsOf(chains));
}

/** One chain at a time: the text of a large fleet made at once would block the process. */
function* partsOf(chains: Iterable<NamedHistory>): Iterable<string> {
  yield `${HEADER}\n`;
  for (const chain of chains) {
    yield `${historyText(chain)}\n`;
  }
}

/** The history of one chain as a line of JSON. */
export function historyText([slug, { fine, coarse }]: NamedHistory): string {
  return seal({ slug, fine: ringToJson(fine), coarse: ringToJson(coarse) });
}

/** Reads what `historyText` wrote; null where it is damaged. */
export function readHistoryText(text: string): NamedHistory | null {
  // What is sealed in this shape has the type that `historyText` gave to it.
  const saved = unsealText(text) as { slug: string; fine: RingJson; coarse: RingJson } | undefined;
  return saved === undefined
    ? null
    : [saved.slug, { fine: ringOf(saved.fine), coarse: ringOf(saved.coarse) }];
}

function ringToJson({ timesMs, columns }: SavedRing): RingJson {
  return {
    timesMs: base64Of(timesMs),
    columns: columns.map(({ names, values }) => ({
      names: [...names],
      bits: values instanceof Float64Array ? 64 : 32,
      values: base64Of(values),
    })),
  };
}

function ringOf({ timesMs, columns }: RingJson): SavedRing {
  return {
    timesMs: new Float64Array(bytesOf(timesMs)),
    columns: columns.map(({ names, bits, values }) => ({
      names,
      values: bits === 64 ? new Float64Array(bytesOf(values)) : new Float32Array(bytesOf(values)),
    })),
  };
}

function base64Of({ buffer, byteOffset, byteLength }: NodeJS.TypedArray): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

function bytesOf(text: string): ArrayBuffer {
  return new Uint8Array(Buffer.from(text, "base64")).buffer;
}
