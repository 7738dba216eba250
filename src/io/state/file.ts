import { readFile, rename, stat } from "node:fs/promises";
import { z } from "zod";
import { LATEST_MS } from "../../core/model/observation.ts";
import { hasCode } from "../system-error.ts";
import { writeAtomically } from "./write-atomically.ts";

/** What outlives a process. Each part is read by the code that wrote it. */
export interface SavedState {
  /** Unix milliseconds. */
  readonly savedAtMs: number;
  /** By the chain's slug. */
  readonly chains: Readonly<Record<string, unknown>>;
  readonly incidents: unknown;
  readonly budgets: unknown;
  /** Which query of its dialect each endpoint answered last; the name is that of version 1 of the file. */
  readonly conversations: unknown;
}

/** What was found at the path of the state file. */
export type StateFound =
  | { readonly kind: "state"; readonly state: SavedState }
  /** The first start. */
  | { readonly kind: "none" }
  /** Invalid, and renamed. */
  | { readonly kind: "moved_aside"; readonly reason: string; readonly movedTo: string };

/** The file cannot be read or written, for a reason that the user has to remove. */
export class StateFileError extends Error {
  override readonly name = "StateFileError";

  constructor(verb: string, { path, cause }: { readonly path: string; readonly cause: unknown }) {
    super(`Cannot ${verb} the state file ${path}: ${reasonOf(cause)}; choose another with --state`, {
      cause,
    });
  }
}

/**
 * Raised when an older version could misread the file. Every version begins with `version` and `savedAtMs`. What a later
 * version only adds is ignored.
 */
const VERSION = 1;

const StateJson = z.object({
  version: z.literal(VERSION),
  savedAtMs: z.number().nonnegative().max(LATEST_MS),
  chains: z.record(z.string(), z.unknown()),
  incidents: z.unknown(),
  budgets: z.unknown(),
  conversations: z.unknown(),
});
const Versioned = z.looseObject({ version: z.int() });

/** No file of ours is longer, and a string can hold as much. */
export const MAX_FILE_BYTES = 500_000_000;
export const TOO_LONG = "it is longer than 500 MB";

/**
 * Reads the state file. One that is invalid or of a newer version is renamed, never deleted.
 *
 * @throws {StateFileError} If there is a file that cannot be read or renamed.
 */
export async function readStateFile(path: string, nowMs: number): Promise<StateFound> {
  let text: string;
  try {
    if ((await stat(path)).size > MAX_FILE_BYTES) {
      return await moveAside(path, TOO_LONG, nowMs);
    }
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof StateFileError) {
      throw error;
    }
    if (hasCode(error, "ENOENT")) {
      return { kind: "none" };
    }
    throw new StateFileError("read", { path, cause: error });
  }
  const parsed = parseState(text);
  return parsed.kind === "state" ? parsed : await moveAside(path, parsed.reason, nowMs);
}

/**
 * Renames an invalid file to `….broken-<time>`.
 *
 * @throws {StateFileError} If it cannot be renamed.
 */
export async function moveAside(
  path: string,
  reason: string,
  nowMs: number,
): Promise<Extract<StateFound, { kind: "moved_aside" }>> {
  const movedTo = `${path}.broken-${new Date(nowMs).toISOString().replace(/[-:.]/g, "")}`;
  try {
    await rename(path, movedTo);
  } catch (error) {
    throw new StateFileError("move aside", { path, cause: error });
  }
  return { kind: "moved_aside", reason, movedTo };
}

/**
 * Writes the state file, all of it or nothing.
 *
 * @throws {StateFileError} If that fails; the previous file is then still there.
 */
export async function writeStateFile(path: string, state: SavedState): Promise<void> {
  try {
    await writeAtomically(path, partsOf(state));
  } catch (error) {
    throw new StateFileError("write", { path, cause: error });
  }
}

/** One chain at a time: the text of a large fleet made at once would block the process for half a second. */
function* partsOf({ chains, ...rest }: SavedState): Iterable<string> {
  yield `${JSON.stringify({ version: VERSION, ...rest }).slice(0, -1)},"chains":{`;
  let separator = "";
  for (const [slug, chain] of Object.entries(chains)) {
    yield `${separator}${JSON.stringify(slug)}:${JSON.stringify(chain)}`;
    separator = ",";
  }
  yield "}}\n";
}

type ParsedState =
  | { readonly kind: "state"; readonly state: SavedState }
  | { readonly kind: "invalid"; readonly reason: string };

function parseState(text: string): ParsedState {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) {
      throw error;
    }
    return invalid(text.trim() === "" ? "it is empty" : "it is truncated or damaged: not valid JSON");
  }
  const parsed = StateJson.safeParse(json);
  if (parsed.success) {
    const { version: _, ...state } = parsed.data;
    return { kind: "state", state };
  }
  const versioned = Versioned.safeParse(json);
  if (versioned.success && versioned.data.version > VERSION) {
    return invalid(
      `a newer Synclag wrote it: version ${versioned.data.version}, and this one reads ${VERSION}`,
    );
  }
  return invalid("it is not a state file of Synclag");
}

function invalid(reason: string): ParsedState {
  return { kind: "invalid", reason };
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason} (${code})`;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "no permission",
  EBUSY: "it cannot be replaced; mount its folder, not the file itself",
  EDQUOT: "the disk quota is used up",
  EIO: "the disk failed",
  EISDIR: "it is a folder",
  EMFILE: "too many open files",
  ENOENT: "its folder does not exist",
  ENOSPC: "no space left on the disk",
  EROFS: "the file system is read-only",
};
