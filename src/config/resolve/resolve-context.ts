import type { ChainValues, IndexerEntry } from "../schema/indexer.ts";
import type { Path } from "../yaml/config-error.ts";
import type { Message } from "../yaml/problem-list.ts";
import type { SecretStore } from "./secrets.ts";
import { type FilledPart, type FillFailure, fillTemplate, type Template } from "./template.ts";

/** What resolving a valid file into a `Config` needs. Paths lead into the parsed entry. */
export interface ResolveContext {
  /** Adds a problem with a value. */
  addProblem(path: Path, message: Message): void;
  /** Adds a problem with a key. */
  addKeyProblem(path: Path, message: Message): void;
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
  /** The selections of `parity` for its variant. */
  readonly selections: readonly string[];
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

/** Fills a template for one chain. Null: problems were added, or an optional indexer will be skipped. */
export function fillForChain(
  template: Template,
  path: Path,
  scope: ChainScope,
): readonly FilledPart[] | null {
  const { values, indexer } = scope;
  const filled = fillTemplate(template, { values, secrets: indexer.context.secrets });
  if (filled.kind === "filled") {
    return filled.parts;
  }
  for (const failure of filled.failures) {
    addFailure(failure, path, scope);
  }
  return null;
}

function addFailure(
  failure: FillFailure,
  path: Path,
  { indexer, path: chainPath, values }: ChainScope,
): void {
  const { context, entry, unset } = indexer;
  switch (failure.kind) {
    case "invalid":
      context.addProblem(path, failure.message);
      return;
    case "no value": {
      const { name } = failure;
      const hint = name === "id" ? "; use {chain_id} for the chain's number" : "";
      const message = `Cannot fill {${name}} in ${String(path.at(-1))}: chain ${values.get("chain")} has no value "${name}"${hint}`;
      if (!context.hasProblemAt([...chainPath, name])) {
        context.addProblem([...chainPath, name], message);
      }
      return;
    }
    case "unset":
      unset.add(failure.message);
      if (!entry.optional) {
        const advice = "set it, or add optional: true to the indexer";
        context.addProblem(path, `Cannot resolve this value: ${failure.message}; ${advice}`);
      }
  }
}
