import { createHash } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import { hostname } from "node:os";
import { z } from "zod";
import { mergeSavedBudgets, NOTHING_SPENT, SavedBudgets, shiftBuckets } from "../../budgets/saved-budgets.ts";
import { LATEST_MS } from "../../core/model/observation.ts";
import { parseJson } from "../../core/model/text.ts";
import { orNull } from "../system-error.ts";
import type { World } from "../world.ts";
import { readBudgetJournal } from "./journal.ts";
import { readKept, writeAtomically } from "./kept-file.ts";
import { type KnownState, partLines, stateIn, stateParts, unsealLines } from "./parts.ts";
import { onStateFile, STATE_HEAD } from "./path.ts";

/** The state that outlives a process. */
export interface SavedState extends KnownState {
  /** Unix milliseconds. */
  readonly savedAtMs: number;
  readonly budgets: SavedBudgets;
}

/** The state that the previous process left. */
export interface RestoredState extends Omit<SavedState, "savedAtMs"> {
  /** When the previous process was last known to run; null: unknown. */
  readonly aliveMs: number | null;
}

const NOTHING_KNOWN: KnownState = { chains: {}, incidents: [], questions: {}, notified: [] };
export const EMPTY_STATE: RestoredState = { ...NOTHING_KNOWN, budgets: NOTHING_SPENT, aliveMs: null };

/** Raise this number when a process of an older version could misread the budgets. */
const VERSION = 2;
/** The first line of the file. The other lines are the parts of the known state. Keys that a later version adds are ignored. */
const HeadJson = z.object({
  version: z.literal(VERSION),
  savedAtMs: z.number().nonnegative().max(LATEST_MS),
  budgets: SavedBudgets,
});

/** If a file is dated more than this after now, the clock was set back, and only the budgets of the file are used. */
const MAX_FUTURE_MS = 60_000;

/**
 * Reads the state that the previous process left: the state file, and the journal of requests spent since it was written. An
 * invalid file is moved aside. The log says what is lost.
 *
 * @throws {StateFileError} If a file cannot be read or moved.
 */
export async function loadState(
  path: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<RestoredState> {
  const discard = (detail: string): void => logger.warn({ path, detail }, "State file partly discarded");
  const text = await readKept(path);
  const found = text === null ? null : parseState(text, discard);
  if (text !== null && found === null) {
    const movedTo = `${path}.broken-${new Date(nowMs()).toISOString().replace(/[-:.]/g, "")}`;
    await onStateFile("move aside", path, () => rename(path, movedTo));
    const message = "State file damaged, or of another version: moved aside; state and budgets start empty";
    logger.error({ path, movedTo }, message);
  }
  const restored = found === null ? EMPTY_STATE : usableState(found, nowMs(), discard);
  const { spent, problem } = await readBudgetJournal(path);
  if (problem !== null) {
    logger.error({ path, reason: problem }, "Budget journal damaged; budgets may be undercounted");
  }
  return { ...restored, budgets: mergeSavedBudgets(restored.budgets, spent) };
}

/** The usable part of a state file. `onDiscarded` is called with a sentence about the rest. */
export function usableState(
  { savedAtMs, ...saved }: SavedState,
  nowMs: number,
  onDiscarded: (detail: string) => void,
): RestoredState {
  if (savedAtMs > nowMs + MAX_FUTURE_MS) {
    const savedAt = new Date(savedAtMs).toISOString();
    onDiscarded(`the clock was set back: the file was written at ${savedAt}; only its budgets are used`);
    return { ...EMPTY_STATE, budgets: saved.budgets };
  }
  return { ...saved, aliveMs: savedAtMs };
}

/**
 * The spending in the state file, for a store that replaces the file. Null if the file is absent or cannot be read.
 *
 * Each host moves the times later by 1 to 999 ms, a number made from its name. A merge keeps counts with different times, and the
 * larger of two counts with the same time. So all hosts count, but a file that is carried over twice counts once.
 */
export async function spentInFile(path: string): Promise<SavedBudgets | null> {
  const text = await orNull(readFile(path, "utf8"));
  const { data } = HeadJson.pick({ budgets: true }).safeParse(parseJson(text?.split("\n", 1)[0] ?? ""));
  if (data === undefined) {
    return null;
  }
  const { accounts, ...saved } = mergeSavedBudgets(data.budgets, (await readBudgetJournal(path)).spent);
  const laterMs = 1 + (createHash("sha256").update(hostname()).digest().readUInt16BE() % 999);
  const shifted = Object.entries(accounts).map(([id, spent]) => [id, shiftBuckets(spent, laterMs)] as const);
  return { ...saved, accounts: Object.fromEntries(shifted) };
}

/**
 * Writes the state file, all of it or nothing.
 *
 * @throws {StateFileError} If that fails; the previous file is then still there.
 */
export async function writeStateFile(path: string, state: SavedState): Promise<void> {
  await onStateFile("write", path, () => writeAtomically(path, linesOf(state)));
}

function* linesOf({ savedAtMs, budgets, ...known }: SavedState): Iterable<string> {
  yield `${STATE_HEAD}${savedAtMs},"budgets":${JSON.stringify(budgets)}}\n`;
  yield* partLines(stateParts(known));
}

/**
 * The state in the text; null if it is damaged, or of another version. `onDiscarded` is called with a sentence about parts that
 * cannot be read, which are empty in the state.
 */
function parseState(text: string, onDiscarded: (detail: string) => void): SavedState | null {
  const [head = "", ...lines] = text.trimEnd().split("\n");
  const { data } = HeadJson.safeParse(parseJson(head));
  if (data === undefined) {
    return null;
  }
  const { values, invalid } = unsealLines(lines);
  if (invalid.length > 0) {
    onDiscarded(`these parts are damaged, or of another version, and start empty: ${invalid.join(", ")}`);
  }
  const { savedAtMs, budgets } = data;
  return { savedAtMs, budgets, ...NOTHING_KNOWN, ...stateIn(values) };
}
