import type { Config } from "../config/config.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import { createRedact } from "../core/model/redact.ts";

/**
 * The poll of an endpoint as a line for a shell. What the configuration takes from a variable or a file, the shell
 * takes from there too; a key that stands in the file itself is not said.
 */
export function curlCommand(
  { url, headers }: Pick<Endpoint, "url" | "headers">,
  body: string,
  config: Pick<Config, "secrets" | "variables">,
): string {
  const all = { ...headers, "Content-Type": "application/json" };
  const said = Object.entries(all).map(([name, value]) => `-H ${quoted(`${name}: ${value}`, config)}`);
  return ["curl -sS", quoted(url, config), ...said, `-d ${literally(body)}`].join(" ");
}

function quoted(text: string, { secrets, variables }: Pick<Config, "secrets" | "variables">): string {
  const redact = createRedact(secrets);
  const pieces = variables.reduce<readonly Piece[]>(
    (split, { text: found, shown }) => split.flatMap((piece) => splitAt(piece, found, shown)),
    [{ text, isShell: false }],
  );
  if (pieces.every(({ isShell }) => !isShell)) {
    return literally(redact(text));
  }
  const inside = pieces.map((piece) => (piece.isShell ? piece.text : escaped(redact(piece.text))));
  return `"${inside.join("")}"`;
}

interface Piece {
  readonly text: string;
  /** Whether the shell shall read it, and not take it as it stands. */
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

/** As it stands, whatever is in it. */
function literally(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** As it stands between double quotes. */
function escaped(text: string): string {
  return text.replace(/[\\"`$]/g, "\\$&");
}
