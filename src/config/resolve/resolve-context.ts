import type { ChainValues, IndexerEntry } from "../schema/indexer.ts";
import type { Path } from "../yaml/config-error.ts";
import type { SecretStore } from "./secrets.ts";

/** What every step from a file of the right shape to a `Config` needs. Paths lead into the entry. */
export interface ResolveContext {
  /** Tells of a value. */
  tell(path: Path, message: string): void;
  /** Tells of a key that should not be there. */
  tellKey(path: Path, message: string): void;
  /** Whether something at, above or below a path is wrong already. */
  touches(path: Path): boolean;
  /** A scalar as the user wrote it. */
  sourceOf(path: Path): string | null;
  readonly secrets: SecretStore;
}

/** One indexer of the file, while its endpoints are worked out. */
export interface IndexerScope {
  readonly resolving: ResolveContext;
  readonly protocol: string;
  readonly entry: IndexerEntry;
  readonly path: Path;
  /** Collects which of its variables are not set: an optional indexer is then skipped. */
  readonly unset: Set<string>;
}

/** One chain of an indexer, or all of those that share its plain URL. */
export interface ChainScope {
  readonly indexer: IndexerScope;
  /** Where the chain's own values stand. */
  readonly path: Path;
  readonly overrides: ChainValues;
  /** What the placeholders stand for. */
  readonly values: ReadonlyMap<string, string>;
}
