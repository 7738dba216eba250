import { fillUrl } from "../config/options.ts";
import { basicAuthorization, readWebUrl, Secrets, secretsInUrl } from "../config/secrets.ts";
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
  const secrets = new Secrets(world);
  const filled = fillUrl(written, secrets);
  const url = typeof filled === "string" ? filled : readWebUrl(filled.text);
  if (typeof filled === "string" || typeof url === "string") {
    return { kind: "unusable", message: String(url) };
  }
  world.keepSecret([...secrets.all, ...secretsInUrl(filled.parts)]);
  const { origin, pathname } = url;
  return {
    kind: "address",
    url: `${origin}${pathname}`.replace(/\/+$/, ""),
    authorization: basicAuthorization(url),
  };
}
