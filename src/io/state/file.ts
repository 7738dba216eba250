import { readFile, rename } from "node:fs/promises";
import { z } from "zod";
import { hasCode } from "../system-error.ts";
import { writeAtomically } from "./write-atomically.ts";

/** What is remembered from one process to the next. Each part is read by the code that wrote it. */
export interface SavedState {
  /** Unix milliseconds. */
  readonly savedAtMs: number;
  /** By the chain's slug. */
  readonly chains: Readonly<Record<string, unknown>>;
  readonly incidents: unknown;
  readonly budgets: unknown;
  /** Which question of its dialect each endpoint answered last. */
  readonly conversations: unknown;
}

/** What was found where the state file should be. */
export type StateFound =
  | { readonly kind: "state"; readonly state: SavedState }
  /** The first start. */
  | { readonly kind: "none" }
  | { readonly kind: "set_aside"; readonly why: string; readonly movedTo: string };

/** The file cannot be read or written at all: the user has to mend that. */
export class StateFileError extends Error {
  override readonly name = "StateFileError";

  constructor(verb: string, { path, cause }: { readonly path: string; readonly cause: unknown }) {
    super(`Cannot ${verb} the state file ${path}: ${reasonOf(cause)}; choose another with --state`, {
      cause,
    });
  }
}

/** Goes up when an older version could misread the file. */
const VERSION = 1;

const StateJson = z.strictObject({
  version: z.literal(VERSION),
  savedAtMs: z.number().nonnegative(),
  chains: z.record(z.string(), z.unknown()),
  incidents: z.unknown(),
  budgets: z.unknown(),
  conversations: z.unknown(),
});
const Versioned = z.looseObject({ version: z.int() });

/**
 * Reads the state file. One that is damaged, foreign or of a newer version is set aside: renamed, never deleted.
 *
 * @throws {StateFileError} If there is a file that cannot be read or renamed.
 */
export async function readStateFile(path: string, nowMs: number): Promise<StateFound> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return { kind: "none" };
    }
    throw new StateFileError("read", { path, cause: error });
  }
  const parsed = parseState(text);
  return typeof parsed === "string"
    ? await setStateAside(path, parsed, nowMs)
    : { kind: "state", state: parsed };
}

/**
 * Renames a state file that turned out to be useless to `….broken-<time>`.
 *
 * @throws {StateFileError} If it cannot be renamed.
 */
export async function setStateAside(
  path: string,
  why: string,
  nowMs: number,
): Promise<Extract<StateFound, { kind: "set_aside" }>> {
  const movedTo = `${path}.broken-${new Date(nowMs).toISOString().replace(/[-:.]/g, "")}`;
  try {
    await rename(path, movedTo);
  } catch (error) {
    throw new StateFileError("set aside", { path, cause: error });
  }
  return { kind: "set_aside", why, movedTo };
}

/**
 * Writes the state file, all of it or nothing.
 *
 * @throws {StateFileError} If that fails; the former file is then still there.
 */
export async function writeStateFile(path: string, state: SavedState): Promise<void> {
  try {
    await writeAtomically(path, partsOf(state));
  } catch (error) {
    throw new StateFileError("write", { path, cause: error });
  }
}

/** The text chain by chain: a large fleet's would block the process for half a second if it were made at once. */
function* partsOf({ chains, ...rest }: SavedState): Iterable<string> {
  yield `${JSON.stringify({ version: VERSION, ...rest }).slice(0, -1)},"chains":{`;
  let separator = "";
  for (const [slug, chain] of Object.entries(chains)) {
    yield `${separator}${JSON.stringify(slug)}:${JSON.stringify(chain)}`;
    separator = ",";
  }
  yield "}}\n";
}

/** The state, or one sentence on why the text is none. */
function parseState(text: string): SavedState | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) {
      throw error;
    }
    return text.trim() === "" ? "it is empty" : "it is truncated or damaged: not valid JSON";
  }
  const parsed = StateJson.safeParse(json);
  if (parsed.success) {
    const { version: _, ...state } = parsed.data;
    return state;
  }
  const versioned = Versioned.safeParse(json);
  if (versioned.success && versioned.data.version > VERSION) {
    return `a newer Synclag wrote it: version ${versioned.data.version}, and this one reads ${VERSION}`;
  }
  return "it is not a state file of Synclag";
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason} (${code})`;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "no permission",
  EBUSY: "it cannot be replaced; mount its folder, not the file itself",
  EISDIR: "it is a folder",
  ENOENT: "its folder does not exist",
  ENOSPC: "no space left on the disk",
  EROFS: "the file system is read-only",
};
