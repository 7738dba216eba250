import type { ChainValues, IndexerEntry } from "../schema/indexer.ts";
import type { Path } from "../yaml/config-error.ts";
import type { SecretStore } from "./secrets.ts";

/** What resolving a valid file into a `Config` needs. Paths lead into the parsed entry. */
export interface ResolveContext {
  /** Adds a problem with a value. */
  addProblem(path: Path, message: string): void;
  /** Adds a problem with a key. */
  addKeyProblem(path: Path, message: string): void;
  /** Whether there is a problem at, above or below a path already. */
  hasProblemAt(path: Path): boolean;
  /** A scalar as the user wrote it. */
  sourceOf(path: Path): string | null;
  readonly secrets: SecretStore;
}

/** One indexer of the file, while its endpoints are resolved. */
export interface IndexerScope {
  readonly context: ResolveContext;
  readonly protocol: string;
  readonly entry: IndexerEntry;
  readonly path: Path;
  /** Collects which of its variables are not set: an optional indexer is skipped then. */
  readonly unset: Set<string>;
}

/** One chain of an indexer, or all chains that share its URL. */
export interface ChainScope {
  readonly indexer: IndexerScope;
  /** Where the chain's own values are written. */
  readonly path: Path;
  readonly overrides: ChainValues;
  /** The values of the placeholders. */
  readonly values: ReadonlyMap<string, string>;
}
