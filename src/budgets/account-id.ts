import type { Budget } from "../core/model/fleet.ts";

/**
 * Tells who draws from one purse: all endpoints of a shared budget, or those of one URL, since that is what its provider
 * counts. `url` may be a digest of it; if it is not, the purse's key may hold a secret, and must not leave the process.
 */
export function accountIdOf({ name, scope }: Pick<Budget, "name" | "scope">, url: string): string {
  return scope === "shared" ? name : `${name} ${url}`;
}
