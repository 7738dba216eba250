import { z } from "zod";
import { SavedBudgets } from "../../budgets/saved-budgets.ts";
import type { ChainState } from "../../core/head/chain-state.ts";
import { LATEST_MS } from "../../core/model/observation.ts";
import type { Incident } from "../../core/model/report.ts";
import { parseJson } from "../../core/model/text.ts";
import type { World } from "../world.ts";
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

/**
 * Reads the state file; null where there is none to be used. One that is invalid or of a newer version is renamed, never deleted. What
 * of it cannot be used is logged.
 *
 * @throws {StateFileError} If there is a file that cannot be read or renamed.
 */
export async function readStateFile(
  path: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<SavedState | null> {
  const found = await readOrMoveAside(path, parseState, nowMs(), (fields) =>
    logger.error(
      { path, ...fields },
      "State file invalid, moved aside; starting with empty state and budgets",
    ),
  );
  return (
    found && unsealState(found, (detail) => logger.warn({ path, detail }, "State file partly discarded"))
  );
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
