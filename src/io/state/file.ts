import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { z } from "zod";
import { mergeSavedBudgets, NOTHING_SPENT, SavedBudgets, shiftBuckets } from "../../budgets/saved-budgets.ts";
import type { ChainState } from "../../core/head/chain-state.ts";
import { LATEST_MS } from "../../core/model/observation.ts";
import type { Incident } from "../../core/model/report.ts";
import { parseJson } from "../../core/model/text.ts";
import { orNull } from "../system-error.ts";
import type { World } from "../world.ts";
import { readBudgetJournal } from "./journal.ts";
import { readOrMoveAside, writeAtomically } from "./kept-file.ts";
import { onStateFile, STATE_HEAD } from "./path.ts";
import { STATE_SHAPE, seal, unseal } from "./seal.ts";

/** What outlives a process. */
export interface SavedState {
  /** Unix milliseconds. */
  readonly savedAtMs: number;
  /** By the chain's slug. */
  readonly chains: Readonly<Record<string, ChainState>>;
  readonly incidents: readonly Incident[];
  readonly budgets: SavedBudgets;
  /** Which query of its dialect each endpoint answered last, by a digest of its identity. */
  readonly questions: Readonly<Record<string, number>>;
}

/** The state that the previous process left. */
export interface RestoredState extends Omit<SavedState, "savedAtMs"> {
  /** When the process before this one was last known to run; null: unknown. */
  readonly aliveMs: number | null;
}

export const EMPTY_STATE: RestoredState = {
  chains: {},
  incidents: [],
  budgets: NOTHING_SPENT,
  questions: {},
  aliveMs: null,
};

/**
 * Raised when an older version could misread the budgets. Every version begins with `version` and `savedAtMs`. What a later
 * version only adds is ignored.
 */
const VERSION = 2;

const StateJson = z.object({
  version: z.literal(VERSION),
  savedAtMs: z.number().nonnegative().max(LATEST_MS),
  shape: z.int(),
  chains: z.record(z.string(), z.unknown()),
  incidents: z.unknown(),
  budgets: SavedBudgets,
  questions: z.record(z.string(), z.int().nonnegative()),
});
const Versioned = z.looseObject({ version: z.int() });

/** A file from further in the future than this means that our clock was set back: only its budgets are used. */
const MAX_FUTURE_MS = 60_000;

/**
 * Reads the state that the previous process left: the state file, and what its journal says was spent since. An invalid file is moved
 * aside. What cannot be used is logged.
 *
 * @throws {StateFileError} If the disk refuses.
 */
export async function loadState(
  path: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<RestoredState> {
  const discard = (detail: string): void => logger.warn({ path, detail }, "State file partly discarded");
  const found = await readOrMoveAside(path, parseState, nowMs(), (fields) =>
    logger.error(
      { path, ...fields },
      "State file invalid, moved aside; starting with empty state and budgets",
    ),
  );
  const restored = found === null ? EMPTY_STATE : usableState(unsealState(found, discard), nowMs(), discard);
  const { spent, problem } = await readBudgetJournal(path);
  if (problem !== null) {
    logger.error({ path, reason: problem }, "Budget journal damaged; budgets may be undercounted");
  }
  return { ...restored, budgets: mergeSavedBudgets(restored.budgets, spent) };
}

/** What of a state file is used. `onDiscarded`: called with a sentence that says what is not. */
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
 * What the state file says was spent, for a store that is used in its place. Null where there is no file, or it cannot be read: it may
 * have moved away long ago.
 *
 * The spans of this host's file end some milliseconds later than those of other files and of the store. So they are counted beside
 * these, and carrying them over again changes nothing.
 */
export async function spentInFile(path: string): Promise<SavedBudgets | null> {
  const text = await orNull(readFile(path, "utf8"));
  const { data } = StateJson.pick({ budgets: true }).safeParse(parseJson(text ?? ""));
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
  await onStateFile("write", path, () => writeAtomically(path, partsOf(state)));
}

/** One chain at a time: the text of a large fleet made at once would block the process for half a second. */
function* partsOf({ savedAtMs, chains, incidents, ...rest }: SavedState): Iterable<string> {
  const own = JSON.stringify({ shape: STATE_SHAPE, ...rest }).slice(1, -1);
  yield `${STATE_HEAD}${savedAtMs},${own},"incidents":${seal(incidents)},"chains":{`;
  let separator = "";
  for (const [slug, chain] of Object.entries(chains)) {
    yield `${separator}${JSON.stringify(slug)}:${seal(chain)}`;
    separator = ",";
  }
  yield "}}\n";
}

/** What the text holds, or why it is not a state. */
function parseState(text: string): z.infer<typeof StateJson> | string {
  const json = parseJson(text);
  if (json === undefined) {
    return text.trim() === "" ? "it is empty" : "it is truncated or damaged: not valid JSON";
  }
  const version = Versioned.safeParse(json).data?.version ?? VERSION;
  if (version !== VERSION) {
    const writer = version > VERSION ? "a newer" : "an older";
    return `${writer} Synclag wrote it: version ${version}, and this one reads ${VERSION}`;
  }
  const { data, error } = StateJson.safeParse(json);
  const isOurs = error?.issues.every(({ path }) => path[0] === "budgets");
  return data ?? (isOurs ? "its budgets are invalid" : "it is not a state file of Synclag");
}

/** `onDiscarded`: called with a sentence for each part that cannot be read, and is empty in the state. */
function unsealState(
  { savedAtMs, budgets, questions, shape, ...sealed }: z.infer<typeof StateJson>,
  onDiscarded: (detail: string) => void,
): SavedState {
  if (shape !== STATE_SHAPE) {
    onDiscarded("another version of Synclag wrote it: chains and incidents start empty");
    return { savedAtMs, budgets, questions, chains: {}, incidents: [] };
  }
  // Values that were sealed in this shape have the types that the writer gave to `seal`.
  const incidents = unseal(sealed.incidents) as SavedState["incidents"] | undefined;
  if (incidents === undefined) {
    onDiscarded("the list of incidents starts empty: it is damaged");
  }
  const chains: Record<string, ChainState> = {};
  for (const [slug, json] of Object.entries(sealed.chains)) {
    const chain = unseal(json) as ChainState | undefined;
    if (chain === undefined) {
      onDiscarded(`chain ${slug} starts empty: it is damaged`);
    } else {
      chains[slug] = chain;
    }
  }
  return { savedAtMs, budgets, questions, chains, incidents: incidents ?? [] };
}
