import { secretsInUrl } from "../config/resolve/secret-parts.ts";
import { SecretStore } from "../config/resolve/secrets.ts";
import { type FillFailure, fillTemplate, joinParts, parseTemplate } from "../config/resolve/template.ts";
import { basicAuthorization, readWebUrl } from "../config/resolve/web-url.ts";
import type { CommandWorld } from "./command-world.ts";

/** The address of a running daemon, or why it cannot be used. */
export type DaemonAddress =
  | {
      readonly kind: "address";
      /** Without user and password. */
      readonly url: string;
      /** The `Authorization` header for these; null without them. */
      readonly authorization: string | null;
    }
  | { readonly kind: "unusable"; readonly message: string };

type Reading = Pick<CommandWorld, "env" | "readFile" | "keepSecret">;

/**
 * Parses `--url`: http or https, with user and password if the daemon requires them. A password written as `${VAR}` or
 * `${file:/path}` needs no encoding, and is not visible in the list of processes.
 */
export function readDaemonAddress(written: string, world: Reading): DaemonAddress {
  const secrets = new SecretStore(world);
  const filled = fillTemplate(parseTemplate(written), { values: new Map(), secrets });
  if (filled.kind === "failed") {
    return { kind: "unusable", message: filled.failures.map(describeFailure).join("; ") };
  }
  const parts = filled.parts.map(({ text, source }) => ({
    text: source === "secret" ? encodeURIComponent(text) : text,
    source,
  }));
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

function describeFailure(failure: FillFailure): string {
  switch (failure.kind) {
    case "invalid":
      return failure.message;
    case "no value":
      return `Cannot use {${failure.name}}: expected \${VARIABLE} or \${file:/path}`;
    case "unset":
      return `Cannot resolve this value: ${failure.message}`;
  }
}
