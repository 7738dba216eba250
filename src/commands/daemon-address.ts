import { fillSecrets } from "../config/options/fill-secrets.ts";
import { secretsInUrl } from "../config/resolve/secret-parts.ts";
import { SecretStore } from "../config/resolve/secrets.ts";
import { joinParts } from "../config/resolve/template.ts";
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
  const filled = fillSecrets(written, secrets);
  if (filled.kind === "unusable") {
    return filled;
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
