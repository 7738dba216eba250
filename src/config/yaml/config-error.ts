import { SECRET_MARK } from "../../core/model/redact.ts";
import { ConfigError } from "../problems.ts";

/** Keys and indices from the top of the file down to a value. */
export type Path = readonly (string | number)[];

/** One mistake in a configuration file. Lines and columns count from 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  readonly path: Path;
  /** Never contains a secret. */
  readonly message: string;
}

/** The mistakes in one configuration file: those given, and how many more there are. */
export function configErrorIn(
  file: string,
  found: { readonly problems: readonly Problem[]; readonly more?: number; readonly cause?: unknown },
): ConfigError {
  const lines = found.problems.map((problem) => formatProblem(file, problem));
  const { more = 0 } = found;
  return new ConfigError(
    [...lines, ...(more > 0 ? [`… and ${more.toLocaleString("en-US")} more`] : [])].join("\n"),
    found,
  );
}

/** A path as a key of maps and sets. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** `FILE:LINE:COL: path: message`, on one line whatever the file contains. */
function formatProblem(file: string, { line, column, path, message }: Problem): string {
  return escapeControls(`${file}:${line}:${column}: ${formatPath(path)}: ${message}`);
}

/** `protocols.airdrops[1].chains.base.id`; `(file)` for the whole file. */
function formatPath(path: Path): string {
  return path.length === 0 ? "(file)" : path.map(formatStep).join("").replace(/^\./, "");
}

function formatStep(step: string | number): string {
  if (typeof step === "number") {
    return `[${step}]`;
  }
  if (step === SECRET_MARK) {
    return SECRET_MARK;
  }
  return /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

/** Control and formatting characters would move a terminal's cursor, or hide what follows. */
function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
