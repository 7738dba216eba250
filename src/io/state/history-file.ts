import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { SavedHistory } from "../../core/history/history.ts";
import { COLUMN_TEXT } from "../../core/history/number-column.ts";
import { isSystemError } from "../system-error.ts";
import { writeAtomically } from "./write-atomically.ts";

/** By the chain's slug. */
type SavedHistories = Readonly<Record<string, SavedHistory>>;

type NamedHistory = readonly [slug: string, history: SavedHistory];

/** Goes up when an older version could misread the file. */
const VERSION = 1;

const Pages = z.array(
  z.strictObject({
    firstStep: z.int().nonnegative(),
    tracks: z.record(z.string(), z.array(z.string().regex(COLUMN_TEXT))),
  }),
);
const HistoryJson = z.strictObject({
  version: z.literal(VERSION),
  chains: z.record(z.string(), z.strictObject({ fine: Pages, coarse: Pages })),
});

/** The file of the plots' past: beside the state file, which is written far more often and is much smaller. */
export function historyPathOf(statePath: string): string {
  return `${statePath}.history`;
}

/** Reads it; null where there is none, or none that can be used: the plots then start afresh. */
export async function readHistoryFile(statePath: string): Promise<SavedHistories | null> {
  try {
    return HistoryJson.parse(JSON.parse(await readFile(historyPathOf(statePath), "utf8"))).chains;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || isSystemError(error)) {
      return null;
    }
    throw error;
  }
}

/** Writes it, all of it or nothing. @throws If the disk refuses; the former file is then still there. */
export async function writeHistoryFile(statePath: string, chains: Iterable<NamedHistory>): Promise<void> {
  await writeAtomically(historyPathOf(statePath), partsOf(chains));
}

/** The text chain by chain: a large fleet's would block the process if it were made at once. */
function* partsOf(chains: Iterable<NamedHistory>): Iterable<string> {
  yield `{"version":${VERSION},"chains":{`;
  let separator = "";
  for (const [slug, history] of chains) {
    yield `${separator}${JSON.stringify(slug)}:${JSON.stringify(history)}`;
    separator = ",";
  }
  yield "}}\n";
}
