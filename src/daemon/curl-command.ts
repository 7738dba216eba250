import type { Config } from "../config/config.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import { createRedact } from "../core/model/redact.ts";

/**
 * The poll of an endpoint as a shell command. What the configuration takes from a variable or a file, the shell takes
 * from there too; a key written in the configuration itself is redacted.
 */
export function curlCommand(
  { url, headers }: Pick<Endpoint, "url" | "headers">,
  body: string,
  config: Pick<Config, "secrets" | "variables">,
): string {
  const all = { ...headers, "Content-Type": "application/json" };
  const headerArgs = Object.entries(all).map(([name, value]) => `-H ${quoted(`${name}: ${value}`, config)}`);
  return ["curl -sS", quoted(url, config), ...headerArgs, `-d ${singleQuoted(body)}`].join(" ");
}

const redactFor = memoize(createRedact);

function quoted(text: string, { secrets, variables }: Pick<Config, "secrets" | "variables">): string {
  const redact = redactFor(secrets);
  const pieces = variables.reduce<readonly Piece[]>(
    (split, { text: found, shown }) => split.flatMap((piece) => splitAt(piece, found, shown)),
    [{ text, isShell: false }],
  );
  if (pieces.every(({ isShell }) => !isShell)) {
    return singleQuoted(redact(text));
  }
  const inside = pieces.map((piece) => (piece.isShell ? piece.text : escaped(redact(piece.text))));
  return `"${inside.join("")}"`;
}

interface Piece {
  readonly text: string;
  /** Whether the shell expands it. */
  readonly isShell: boolean;
}

function splitAt(piece: Piece, found: string, shown: string): readonly Piece[] {
  if (piece.isShell) {
    return [piece];
  }
  return piece.text
    .split(found)
    .flatMap((text, index): readonly Piece[] => [
      ...(index === 0 ? [] : [{ text: shown, isShell: true }]),
      { text, isShell: false },
    ]);
}

/** In single quotes: nothing is expanded. */
function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For text between double quotes that must not be expanded. */
function escaped(text: string): string {
  return text.replace(/[\\"`$]/g, "\\$&");
}
