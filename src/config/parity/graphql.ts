import { createRequire } from "node:module";

/** The parts of graphql-js that read selections. */
export type Graphql = Pick<
  typeof import("graphql"),
  "GraphQLError" | "parse" | "stripIgnoredCharacters" | "visit"
>;

let loaded: Graphql | null = null;

/** graphql-js, loaded at the first selection: a start without `parity` does not wait for it, and parsing stays synchronous. */
export function loadGraphql(): Graphql {
  // The package's own types.
  loaded ??= createRequire(import.meta.url)("graphql") as Graphql;
  return loaded;
}
