import { secretsInUrl } from "../config/resolve/secret-parts.ts";
import { SecretStore } from "../config/resolve/secrets.ts";
import { type FilledPart, joinParts, parseTemplate, type TemplatePart } from "../config/resolve/template.ts";
import { basicAuthorization, readWebUrl } from "../config/resolve/web-url.ts";
import type { CommandWorld } from "./command-world.ts";

/** Where a running daemon is asked, or the sentence that says why it can't be. */
export type DaemonAddress =
  | {
      readonly kind: "address";
      /** Without user and password. */
      readonly url: string;
      /** What these stand for; null where there are none. */
      readonly authorization: string | null;
    }
  | { readonly kind: "unusable"; readonly message: string };

type Reading = Pick<CommandWorld, "env" | "readFile" | "keepSecret">;

/**
 * Reads `--url`: http or https, with a user's name and password where the daemon wants them. Written as `${VAR}` or
 * `${file:/path}`, the password is taken as it is, and does not show in the list of processes.
 */
export function readDaemonAddress(written: string, world: Reading): DaemonAddress {
  const template = parseTemplate(written);
  if (template.kind === "invalid") {
    return { kind: "unusable", message: template.message };
  }
  const secrets = new SecretStore(world);
  const parts: FilledPart[] = [];
  for (const part of template.parts) {
    const piece = fill(part, secrets);
    if (piece.kind === "unusable") {
      return piece;
    }
    parts.push({ text: piece.text, isChainValue: false });
  }
  const read = readWebUrl(joinParts(parts));
  if (read.kind === "invalid") {
    return { kind: "unusable", message: read.message };
  }
  const { url } = read;
  world.keepSecret([...secrets.all, ...secretsInUrl(parts)]);
  const { origin, pathname } = url;
  return {
    kind: "address",
    url: `${origin}${pathname}`.replace(/\/+$/, ""),
    authorization: basicAuthorization(url),
  };
}

type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unusable"; readonly message: string };

function fill(part: TemplatePart, secrets: SecretStore): Piece {
  switch (part.kind) {
    case "text":
      return part;
    case "value":
      return {
        kind: "unusable",
        message: `Cannot use {${part.name}}: expected \${VARIABLE} or \${file:/path}`,
      };
    case "variable":
    case "file": {
      const reading = secrets.read(part);
      return reading.kind === "read"
        ? { kind: "text", text: encodeURIComponent(reading.text) }
        : { kind: "unusable", message: `Cannot resolve this value: ${reading.message}` };
    }
  }
}
