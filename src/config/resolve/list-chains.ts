import { DIALECTS } from "../../dialects/families.ts";
import { placeholdersIn } from "../parity/fill-selection.ts";
import type { ConfigFile } from "../schema/config-file.ts";
import { type ChainValues, OVERRIDE_KEYS } from "../schema/indexer.ts";
import { didYouMean } from "../schema/messages.ts";
import type { Path } from "../yaml/config-error.ts";
import type { ChainScope, IndexerScope } from "./resolve-context.ts";
import { BUILT_IN_VALUES, parseTemplate, placeholdersOf } from "./template.ts";

/** A chain that an indexer lists. */
export interface ListedChain {
  readonly slug: string;
  readonly chainId: number;
  readonly scope: ChainScope;
}

/** The chains of an indexer with the values of their placeholders. Unknown or repeated chains and unused values are problems. */
export function listChains(indexer: IndexerScope, chains: ConfigFile["chains"]): readonly ListedChain[] {
  const seen = new Set<string>();
  return entriesOf(indexer).flatMap(({ slug, path, overrides }) => {
    if (seen.has(slug)) {
      indexer.context.addKeyProblem(path, `Cannot list chain "${slug}" twice`);
      return [];
    }
    seen.add(slug);
    checkOwnValues(indexer, path, overrides);
    const chain = Object.hasOwn(chains, slug) ? chains[slug] : undefined;
    if (chain === undefined) {
      addUnknownChain(indexer, path, { slug, chains });
    }
    // The file is refused then, but the rest of the line is still checked.
    const chainId = chain?.id ?? 0;
    const builtIn: [string, string][] = [
      ["protocol", indexer.protocol],
      ["chain", slug],
      ["chain_id", String(chainId)],
    ];
    const values = new Map([...ownValues(indexer, path, overrides), ...builtIn]);
    return [{ slug, chainId, scope: { indexer, path, overrides, values } }];
  });
}

/** The value of a chain that a dialect may need. */
export const DEPLOYMENT_VALUE = "deployment";

const TEMPLATE_KEYS = ["url", "explorer", "playground"] as const;

interface Entry {
  readonly slug: string;
  readonly path: Path;
  readonly overrides: ChainValues;
}

function entriesOf({ entry, path, context }: IndexerScope): readonly Entry[] {
  const { chains } = entry;
  const listPath = [...path, "chains"];
  const entries = Array.isArray(chains)
    ? chains.map((slug, index) => ({ slug, path: [...listPath, index], overrides: {} }))
    : Object.entries(chains).map(([slug, overrides]) => ({ slug, path: [...listPath, slug], overrides }));
  if (entries.length === 0 && !context.hasProblemAt(listPath)) {
    context.addProblem(listPath, "Cannot use an empty list of chains: expected at least one");
  }
  return entries;
}

function addUnknownChain(
  { context }: IndexerScope,
  path: Path,
  { slug, chains }: { readonly slug: string; readonly chains: ConfigFile["chains"] },
): void {
  if (!context.hasProblemAt(["chains", slug])) {
    context.addKeyProblem(
      path,
      () => `Cannot find chain "${slug}" in chains${didYouMean(slug, Object.keys(chains))}`,
    );
  }
}

function ownValues(
  { context }: IndexerScope,
  path: Path,
  overrides: ChainValues,
): readonly [string, string][] {
  return ownKeys(overrides).flatMap((name): [string, string][] => {
    const value = overrides[name] ?? null;
    if (value === null) {
      return [];
    }
    // A number is used as it is written: 1.10 is not 1.1.
    const text = typeof value === "string" ? value : context.sourceOf([...path, name]);
    return [[name, text ?? String(value)]];
  });
}

/** A value that no template uses is most likely a mistyped key. */
function checkOwnValues(indexer: IndexerScope, path: Path, overrides: ChainValues): void {
  const { entry, context } = indexer;
  const templates = [
    ...[entry, overrides].flatMap((from) => TEMPLATE_KEYS.map((key) => from[key] ?? "")),
    ...Object.values(entry.status ?? {}),
  ];
  const used = [
    ...templates.flatMap(placeholdersOf),
    ...indexer.selections.flatMap(placeholdersIn),
    ...(DIALECTS[entry.dialect]?.needs === DEPLOYMENT_VALUE ? [DEPLOYMENT_VALUE] : []),
  ];
  const isUncertain =
    templates.some((template) => parseTemplate(template).kind === "invalid") ||
    [...TEMPLATE_KEYS, "status"].some((key) => context.hasProblemAt([...indexer.path, key]));
  for (const name of ownKeys(overrides)) {
    const valuePath = [...path, name];
    if (BUILT_IN_VALUES.includes(name)) {
      context.addKeyProblem(valuePath, `Cannot set "${name}": {${name}} is built in`);
    } else if (!used.includes(name) && !isUncertain) {
      const hint = (): string => didYouMean(name, [...OVERRIDE_KEYS, ...used]);
      context.addKeyProblem(
        valuePath,
        () => `Cannot use unknown key "${name}": no template uses {${name}}${hint()}`,
      );
    }
  }
}

function ownKeys(overrides: ChainValues): readonly string[] {
  return Object.keys(overrides).filter((key) => !OVERRIDE_KEYS.includes(key));
}
